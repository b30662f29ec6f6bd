import { failRestoredMails } from '../modules/notices/restored.ts'
import { failRestoredDeliveries } from '../modules/webhooks/restored.ts'
import { type BackupSource, fileSource, RestoreError, restoreBackup } from '../platform/restore.ts'
import { systemNow } from '../server/open-context.ts'
import { type BackupPlace, backupPlace, exitCodeOf } from './backup-place.ts'
import { type Command, CommandFailure, EXIT, UsageError } from './command.ts'
import { settingsOf } from './settings.ts'
import { untilSignalled } from './until-signalled.ts'

export const restoreCommand: Command = {
  summary: 'Unpack a backup into an empty data directory',
  usage: `usage: svc restore FILE|s3://bucket/key.tar|s3://bucket/prefix [--data-dir ./data]

The data directory must be empty or not there yet. A bad file changes nothing. s3://bucket/key.tar is a backup;
s3://bucket/prefix is a store of svc: its newest state becomes a workspace without a store, and the store stays as it is. For
s3:// the settings are STORE_ENDPOINT, STORE_REGION, STORE_ACCESS_KEY and STORE_SECRET_KEY; keys that may read suffice.`,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    const [word, ...others] = words
    if (!word || others.length > 0) throw new UsageError('name the file to restore')
    if (word.startsWith('s3://') && !word.endsWith('.tar'))
      return (await import('./restore-store.ts')).restoreStore(word, config, io)
    const place = await backupPlace(word, config, io)
    const source = await sourceAt(place, word)
    try {
      const { files, hasContents } = await untilSignalled((stop) =>
        restoreBackup(source, config.dataDir, Bun.randomUUIDv7(), {
          stop,
          prepare(sqlite) {
            failRestoredDeliveries(sqlite, systemNow())
            failRestoredMails(sqlite, systemNow())
          },
        }),
      )
      io.stderr.write(`restored ${files} files into ${config.dataDir}\n`)
      if (!hasContents)
        io.stderr.write(
          `${word} was made without contents: put the folder blobs/ of that server into ${config.dataDir} before svc serve; svc check names what is missing then\n`,
        )
      return EXIT.ok
    } catch (error) {
      if (error instanceof RestoreError)
        throw new CommandFailure(error.message, await exitCodeOf(place, error.cause))
      throw error
    }
  },
}

async function sourceAt(place: BackupPlace, name: string): Promise<BackupSource> {
  if ('file' in place) return fileSource(place.file)
  const { objectSource } = await import('../platform/backup-object.ts')
  return objectSource(place.store, place.key, name)
}
