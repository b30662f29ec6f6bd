import { messageOf } from '../domain/errors.ts'
import { findProblems } from '../modules/deployments/check.ts'
import { type Command, CommandFailure, EXIT, printable, UsageError } from './command.ts'
import { onDataDir, requireDatabase } from './operator.ts'
import { settingsOf } from './settings.ts'

export const checkCommand: Command = {
  summary: 'Check the database and every stored file',
  usage: `usage: svc check [--data-dir ./data]

Checks the database, what its rows promise of each other, and the bytes of every stored content. Reads all of them, so it
takes a while on a large store. The server may be running. Exit code: 0 all is well, 1 damage, each named in a line.`,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    if (words.length > 0) throw new UsageError(`svc check takes flags only, not "${words[0]}"`)
    requireDatabase(config)
    let found = 0
    try {
      await onDataDir(config, io, async (ctx) => {
        for await (const { kind, detail } of findProblems(ctx)) {
          found += 1
          io.stdout.write(`${kind}: ${printable(detail)}\n`)
        }
      })
    } catch (error) {
      if (error instanceof CommandFailure) throw error
      // A database that cannot even be opened or read is the damage.
      io.stdout.write(`database_damaged: ${printable(messageOf(error))}\n`)
      found += 1
    }
    if (found > 0)
      throw new CommandFailure(`${found} ${found === 1 ? 'problem' : 'problems'} found in ${config.dataDir}`)
    io.stdout.write('all is well\n')
    return EXIT.ok
  },
}
