import { X509Certificate } from 'node:crypto'
import { isRecord } from '../../domain/is-record.ts'
import { certOfKey } from '../../domain/store-keys.ts'
import { CertFolder } from '../../platform/cert-folder.ts'
import { CertObjects } from '../../platform/object-store/cert-objects.ts'
import { type ObjectStore, StoreError } from '../../platform/object-store.ts'
import { readAhead } from '../../platform/read-ahead.ts'

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

const AT_ONCE = { atOnce: 8, weight: 8, weigh: () => 1 }

/** What of them is damaged, by its key. Their keys are sealed: whether these go with the certificates only a machine can tell. */
export async function* damagedCertificates(store: ObjectStore): AsyncGenerator<{ key: string; why: string }> {
  const objects = new CertObjects({ store, epoch: () => EPOCH })
  const newest = [...(await objects.newest()).values()]
  for await (const one of readAhead(newest, AT_ONCE, (key) => damageOf(objects, key)))
    if (one !== null) yield one
}

async function damageOf(objects: CertObjects, key: string): Promise<{ key: string; why: string } | null> {
  try {
    const bytes = await objects.read(key)
    // A newer one has taken its place.
    if (bytes === null) return null
    const why = problemOf(certOfKey(key)?.name ?? '', bytes)
    return why === null ? null : { key, why }
  } catch (error) {
    if (error instanceof StoreError && (error.kind === 'damaged' || error.kind === 'too_large'))
      return { key, why: error.message }
    throw error
  }
}

function problemOf(name: string, bytes: Uint8Array): string | null {
  const stored = recordIn(bytes)
  if (stored === null) return 'it is no record'
  const { host, directory, certPem, keySealed } = stored
  if (name.startsWith('account-'))
    return typeof directory === 'string' && typeof keySealed === 'string' ? null : 'it is no account'
  if (typeof host !== 'string') return 'it names no host'
  // A host whose order has failed so far.
  if (certPem === null && keySealed === null) return null
  if (typeof certPem !== 'string' || typeof keySealed !== 'string')
    return 'it lacks the certificate or its key'
  return isCertificate(certPem) ? null : 'its certificate cannot be read'
}

function recordIn(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subjectAltName !== undefined
  } catch {
    return false
  }
}
