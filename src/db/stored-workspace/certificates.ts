import { CertFolder } from '../../platform/cert-folder.ts'
import { CertObjects } from '../../platform/object-store/cert-objects.ts'
import type { ObjectStore } from '../../platform/object-store.ts'

/** What no primary wrote. */
const EPOCH = 0

/** Puts `certs/` of a data directory into the store, and again only what is another there. */
export async function pushCertificates(store: ObjectStore, dataDir: string): Promise<void> {
  const objects = new CertObjects({ store, epoch: () => EPOCH })
  const folder = new CertFolder(dataDir)
  const newest = await objects.newest()
  for (const name of folder.names()) {
    const bytes = folder.read(name)
    const key = newest.get(name)
    const stored = key === undefined ? null : await objects.read(key)
    if (stored === null || !bytes.equals(stored)) await objects.save(name, bytes)
  }
}

/** Copies the store's into a data directory. Returns the number of files. */
export async function fetchCertificates(store: ObjectStore, dataDir: string): Promise<number> {
  if ((await countCertificates(store)) === 0) return 0
  const objects = new CertObjects({ store, epoch: () => EPOCH })
  const folder = new CertFolder(dataDir)
  const names = await objects.fetch(new Map(), (name, bytes) => folder.write(name, bytes))
  return names.size
}

/** The files of certificates and accounts. */
export const countCertificates = async (store: ObjectStore): Promise<number> =>
  (await new CertObjects({ store, epoch: () => EPOCH }).newest()).size
