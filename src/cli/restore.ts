import { resolve } from 'node:path'
import { failRestoredMails } from '../modules/notices/restored.ts'
import { failRestoredDeliveries } from '../modules/webhooks/restored.ts'
import { RestoreError, restoreBackup } from '../platform/restore.ts'
import { systemNow } from '../server/open-context.ts'
import { type Command, CommandFailure, EXIT, UsageError } from './command.ts'
import { settingsOf } from './settings.ts'
import { untilSignalled } from './until-signalled.ts'

export const restoreCommand: Command = {
  summary: 'Unpack a backup into an empty data directory',
  usage: `usage: svc restore FILE|s3://bucket/prefix [--data-dir ./data]

The data directory must be empty or not there yet. A bad file changes nothing. s3://bucket/prefix is a store of svc: its newest
state becomes a workspace without a store, and the store stays as it is. STORE_ENDPOINT, STORE_REGION, STORE_ACCESS_KEY and
STORE_SECRET_KEY say how it is reached; reading suffices.`,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    const [file, ...others] = words
    if (!file || others.length > 0) throw new UsageError('name the file to restore')
    if (file.startsWith('s3://') && !file.endsWith('.tar'))
      return (await import('./restore-store.ts')).restoreStore(file, config, io)
    try {
      const { files } = await untilSignalled((stop) =>
        restoreBackup(resolve(io.cwd, file), config.dataDir, Bun.randomUUIDv7(), {
          stop,
          prepare(sqlite) {
            failRestoredDeliveries(sqlite, systemNow())
            failRestoredMails(sqlite, systemNow())
          },
        }),
      )
      io.stderr.write(`restored ${files} files into ${config.dataDir}\n`)
      return EXIT.ok
    } catch (error) {
      if (error instanceof RestoreError) throw new CommandFailure(error.message)
      throw error
    }
  },
}
