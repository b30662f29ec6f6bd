import type { Config } from '../../config/config.ts'
import { LogError } from '../../db/replication/log-error.ts'
import { storeOf } from '../../platform/object-store/of-config.ts'
import { readStoreFile, type StoreFile } from '../../platform/object-store/store-file.ts'
import { type ObjectStore, openObjectStore, StoreError } from '../../platform/object-store.ts'
import { CommandFailure, EXIT } from '../command.ts'

/** Runs `work` on the store that the settings name, whether it is one of svc's yet or not. Its refusals become exit codes. */
export async function onStore<T>(config: Config, work: (store: ObjectStore) => Promise<T>): Promise<T> {
  try {
    return await work(openObjectStore({ ...storeOf(config), now: Date.now, writer: Bun.randomUUIDv7() }))
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof LogError)) throw error
    throw new CommandFailure(error.message, error.isSetting ? EXIT.badConfig : EXIT.failed)
  }
}

/** The same for one that `svc store init` made. */
export const onStoreOfSvc = <T>(
  config: Config,
  work: (store: ObjectStore, file: StoreFile) => Promise<T>,
): Promise<T> =>
  onStore(config, async (store) => {
    const file = await readStoreFile(store)
    if (file === null)
      throw new CommandFailure(
        'STORE_URL names no store of svc, as it has no svc.json: svc store init makes one',
        EXIT.badConfig,
      )
    return work(store, file)
  })
