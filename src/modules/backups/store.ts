import type { Config } from '../../config/config.ts'
import type { StoreUrl } from '../../config/store.ts'
import { storeAccess } from '../../config/store-access.ts'
import type { ByteStream } from '../../platform/byte-stream.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { LEFT_AFTER_MS } from './leftovers.ts'
import { type BackupFile, timeOfName } from './names.ts'
import type { BackupPlace } from './place.ts'

/** A prefix of an object store. No code of the store is loaded before it is used. */
export function storePlace(config: Config, at: StoreUrl): BackupPlace {
  const open = async (): Promise<ObjectStore> => {
    const { openObjectStore } = await import('../../platform/object-store.ts')
    return openObjectStore({
      ...storeAccess(config, at, 'BACKUP_DIR'),
      now: Date.now,
      writer: Bun.randomUUIDv7(),
    })
  }
  return {
    isLocal: false,
    list: async () => filesIn(await open()),
    remove: async (name) => (await open()).delete(name),
    async read(name) {
      const { objectSource } = await import('../../platform/backup-object.ts')
      const { bytes } = await objectSource(await open(), name, name).open(undefined)
      return allOf(bytes)
    },
    removeLeftovers: async (now) =>
      (await open()).endUploads(
        'svc-',
        (key, startedAt) => timeOfName(key) !== undefined && now - startedAt > LEFT_AFTER_MS,
      ),
    prepare() {},
    target: (name) => `s3://${at.bucket}/${at.prefix}${name}`,
  }
}

async function* allOf(bytes: ByteStream): AsyncGenerator<Uint8Array, void, undefined> {
  yield* bytes
}

async function filesIn(store: ObjectStore): Promise<BackupFile[]> {
  const files: BackupFile[] = []
  for await (const { key: name, sizeBytes } of store.list('svc-')) {
    const createdAt = timeOfName(name)
    if (createdAt !== undefined) files.push({ name, sizeBytes, createdAt })
  }
  return files
}
