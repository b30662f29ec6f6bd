import type { Config } from '../config/config.ts'
import { messageOf } from '../domain/errors.ts'
import { type BackupOptions, type BackupTarget, writeBackup } from '../platform/backup.ts'
import { fileTarget } from '../platform/backup-file.ts'
import { DatabaseLockedError } from '../platform/database-lock.ts'
import { writeLastBackup } from '../platform/last-backup.ts'
import { systemNow } from '../server/open-context.ts'
import { type BackupPlace, backupPlace, exitCodeOf } from './backup-place.ts'
import { type Command, CommandFailure, EXIT, UsageError } from './command.ts'
import { isOfStore } from './on-workspace.ts'
import { enterOwn, requireDatabase } from './operator.ts'
import { settingsOf } from './settings.ts'
import { untilSignalled } from './until-signalled.ts'

export const backupCommand: Command = {
  summary: 'Write everything into one file, while serving',
  usage: `usage: svc backup FILE|s3://bucket/key.tar [--without-contents] [--data-dir ./data]

Writes the database, the contents, the keys and the certificates of the data directory into one tar file. The server may
be running and taking uploads. The file holds every stored secret: keep it as you keep the server.

s3:// sends it to an object store as it is made; no copy of it is kept here, and it is there once it is whole. The settings are
STORE_ENDPOINT, STORE_REGION, STORE_ACCESS_KEY and STORE_SECRET_KEY. --without-contents leaves out blobs/, for those who keep
that folder another way; it has to be put back after svc restore.`,
  async run(args, io) {
    const { config, values, words } = settingsOf(args, io, { 'without-contents': { type: 'boolean' } })
    const [word, ...others] = words
    if (!word || others.length > 0) throw new UsageError('name the file to write')
    if (word === '-') throw new UsageError('a backup goes into a file, which is there once it is whole')
    const place = await backupPlace(word, config, io)
    requireDatabase(config)
    enterOwn(config)
    const withContents = values['without-contents'] !== true
    const id = Bun.randomUUIDv7()
    const contentsOf = isOfStore(config) ? await contentsInStore(config) : undefined
    try {
      const { sizeBytes, files } = await untilSignalled(async (stop) =>
        writeBackup(config.dataDir, await targetAt(place, { word, dataDir: config.dataDir, id, stop }), id, {
          stop,
          withContents,
          contentsOf,
        }),
      )
      writeLastBackup(config.dataDir, { at: systemNow(), how: 'command', by: null })
      const lacking = withContents ? '' : ', without contents'
      io.stderr.write(`wrote ${word}: ${files} files, ${Math.ceil(sizeBytes / 1e6)} MB${lacking}\n`)
      return EXIT.ok
    } catch (error) {
      if (error instanceof DatabaseLockedError) throw error
      const outcome = 'file' in place ? 'failed and left nothing behind' : 'failed'
      throw new CommandFailure(`the backup ${outcome}: ${messageOf(error)}`, await exitCodeOf(place, error))
    }
  },
}

/** Of a workspace in an object store the data directory has some, and the store all. */
async function contentsInStore(config: Config): Promise<BackupOptions['contentsOf']> {
  const { openObjectStore } = await import('../platform/object-store.ts')
  const { storeOf } = await import('../platform/object-store/of-config.ts')
  const { backupContents } = await import('../db/stored-workspace/backup-contents.ts')
  const store = openObjectStore({ ...storeOf(config), now: Date.now, writer: Bun.randomUUIDv7() })
  return (copy) => backupContents(store, copy)
}

type Writing = { word: string; dataDir: string; id: string; stop: AbortSignal }

async function targetAt(place: BackupPlace, { word, dataDir, id, stop }: Writing): Promise<BackupTarget> {
  if ('file' in place) return fileTarget(dataDir, place.file, id)
  const { objectTarget } = await import('../platform/backup-object.ts')
  return objectTarget(place.store, place.key, word, stop)
}
