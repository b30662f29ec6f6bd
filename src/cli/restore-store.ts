import type { Config } from '../config/config.ts'
import { STORE_OPTIONS } from '../config/store.ts'
import { leaveStore } from '../db/stored-workspace/leave-store.ts'
import { copyWorkspace } from '../db/stored-workspace/restore-store.ts'
import { failRestoredMails } from '../modules/notices/restored.ts'
import { failRestoredDeliveries } from '../modules/webhooks/restored.ts'
import { RestoreError } from '../platform/restore.ts'
import { fillDataDir } from '../platform/restore-target.ts'
import { systemNow } from '../server/open-context.ts'
import { CommandFailure, EXIT, type Io, UsageError } from './command.ts'
import { onStoreOfSvc } from './store/open.ts'
import { untilSignalled } from './until-signalled.ts'

/** Restores the newest state of a store as a workspace without one. contract 18 §1. */
export async function restoreStore(address: string, given: Config, io: Io): Promise<number> {
  const config = { ...given, storeUrl: addressOf(address) }
  requireKeys(config)
  const files = await onStoreOfSvc(config, (store) =>
    untilSignalled((stop) =>
      fillDataDir(config.dataDir, Bun.randomUUIDv7(), { stop, prepare }, async (folder) => {
        try {
          return await copyWorkspace(store, folder, stop)
        } catch (error) {
          throw stop.aborted ? new RestoreError('it was interrupted, and nothing was changed') : error
        }
      }),
    ),
  ).catch((error: unknown) => {
    throw error instanceof RestoreError ? new CommandFailure(error.message) : error
  })
  io.stderr.write(
    `restored ${files} files into ${config.dataDir}, a workspace without a store; start it with the SECRET_KEY, or secret.key, of the one that it comes from\n`,
  )
  return EXIT.ok
}

function addressOf(address: string): NonNullable<Config['storeUrl']> {
  const parsed = STORE_OPTIONS.storeUrl.parse(address)
  if (!('value' in parsed) || parsed.value === null)
    throw new UsageError('name the store as s3://bucket or s3://bucket/prefix')
  return parsed.value
}

function requireKeys({ storeAccessKey, storeSecretKey }: Config): void {
  const lacks =
    storeAccessKey === null ? 'STORE_ACCESS_KEY' : storeSecretKey === null ? 'STORE_SECRET_KEY' : null
  if (lacks !== null)
    throw new CommandFailure(`${lacks} is missing: reading an object store needs it`, EXIT.badConfig)
}

function prepare(sqlite: Parameters<typeof leaveStore>[0]): void {
  leaveStore(sqlite)
  failRestoredDeliveries(sqlite, systemNow())
  failRestoredMails(sqlite, systemNow())
}
