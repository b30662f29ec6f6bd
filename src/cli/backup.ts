import { resolve } from 'node:path'
import { messageOf } from '../domain/errors.ts'
import { writeBackup } from '../platform/backup.ts'
import { DatabaseLockedError } from '../platform/database-lock.ts'
import { type Command, CommandFailure, EXIT, UsageError } from './command.ts'
import { enterOwn, requireDatabase } from './operator.ts'
import { settingsOf } from './settings.ts'
import { untilSignalled } from './until-signalled.ts'

export const backupCommand: Command = {
  summary: 'Write everything into one file, while serving',
  usage: `usage: svc backup FILE [--data-dir ./data]

Writes the database, the contents, the keys and the certificates of the data directory into one tar file. The server may
be running and taking uploads. The file holds every stored secret: keep it as you keep the server.`,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    const [file, ...others] = words
    if (!file || others.length > 0) throw new UsageError('name the file to write')
    if (file === '-') throw new UsageError('a backup goes into a file, which is there once it is whole')
    requireDatabase(config)
    enterOwn(config)
    try {
      const { sizeBytes, files } = await untilSignalled((stop) =>
        writeBackup(config.dataDir, resolve(io.cwd, file), Bun.randomUUIDv7(), stop),
      )
      io.stderr.write(`wrote ${file}: ${files} files, ${Math.ceil(sizeBytes / 1e6)} MB\n`)
      return EXIT.ok
    } catch (error) {
      if (error instanceof DatabaseLockedError) throw error
      throw new CommandFailure(`the backup failed and left nothing behind: ${messageOf(error)}`)
    }
  },
}
