import { type Config, ConfigError } from '../../config/config.ts'
import { LogError } from '../../db/replication/log-error.ts'
import { StoreActivity } from '../../platform/object-store/activity.ts'
import { storeOf } from '../../platform/object-store/of-config.ts'
import { readStoreFile } from '../../platform/object-store/store-file.ts'
import { type ObjectStore, openObjectStore, StoreError } from '../../platform/object-store.ts'
import { ServeError } from '../listeners.ts'

/** The store that the settings name. Nothing is asked yet. */
export function openStore(
  config: Config,
  now: () => number,
  writer: string,
): { store: ObjectStore; activity: StoreActivity } {
  const activity = new StoreActivity()
  const onRequest = (op: string, result: string, ms: number) => activity.note(op, result, ms)
  return { store: openObjectStore({ ...storeOf(config), now, writer, onRequest }), activity }
}

/** Throws as `asStartFailure`. */
export async function idOf(store: ObjectStore): Promise<string> {
  const file = await asStartFailure(() => readStoreFile(store))
  if (file === null)
    throw new ConfigError('STORE_URL names no store yet: there is no svc.json. svc store init makes it one')
  return file.id
}

/** `ConfigError` (exit 78) for what somebody has to set right, `ServeError` (exit 1) for what may pass. contract 18 §1. */
export async function asStartFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreError) && !(error instanceof LogError)) throw error
    throw isForOperator(error) ? new ConfigError(error.message) : new ServeError(error.message)
  }
}

const isForOperator = (error: StoreError | LogError): boolean =>
  error.isSetting || (error instanceof StoreError && error.kind === 'refused')
