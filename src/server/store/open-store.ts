import { type Config, ConfigError } from '../../config/config.ts'
import { isRecord } from '../../domain/is-record.ts'
import { STORE_FILE } from '../../platform/object-store/init.ts'
import { storeOf } from '../../platform/object-store/of-config.ts'
import { type ObjectStore, openObjectStore, StoreError } from '../../platform/object-store.ts'
import { ServeError } from '../listeners.ts'

const MAX_FILE_BYTES = 64 * 1024

/** The store that the settings name, and its id. Throws `ConfigError` (exit 78) or, where nothing answers, `ServeError`. */
export async function reachStore(
  config: Config,
  now: () => number,
  writer: string,
): Promise<{ store: ObjectStore; id: string }> {
  const store = openObjectStore({ ...storeOf(config), now, writer })
  return { store, id: await asStartFailure(() => readId(store)) }
}

/** With the errors of a start in place of the store's. */
export async function asStartFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw error.isSetting ? new ConfigError(error.message) : new ServeError(error.message)
  }
}

async function readId(store: ObjectStore): Promise<string> {
  const file = await store.get(STORE_FILE, MAX_FILE_BYTES)
  if (file === null)
    throw new ConfigError(
      `STORE_URL names no store yet, as it holds no ${STORE_FILE}: svc store init makes one`,
    )
  const { format, version, id } = parsed(file.bytes)
  if (typeof id !== 'string' || id === '')
    throw new ConfigError(`${STORE_FILE} in STORE_URL is not what svc store init wrote`)
  if (format !== 'ltx' || version !== 1)
    throw new ConfigError(`STORE_URL holds a store that a newer svc made (${STORE_FILE}): start that one`)
  return id
}

function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
