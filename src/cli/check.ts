import type { Config } from '../config/config.ts'
import { findProblems } from '../modules/deployments/check.ts'
import { findUnreadableSecrets } from '../modules/secrets/unreadable.ts'
import { reserveBytes } from '../platform/reserve.ts'
import { keyHint, Problems, tellOfCertificates, tellOfForeign, tellOfTwins } from './check-notes.ts'
import { type Command, CommandFailure, EXIT, type Io, UsageError } from './command.ts'
import { isOfStore } from './on-workspace.ts'
import { onDataDir, requireDatabase } from './operator.ts'
import { settingsOf } from './settings.ts'

export const checkCommand: Command = {
  summary: 'Check the database and every stored file',
  usage: `usage: svc check [--data-dir ./data]

Checks the database, what its rows promise of each other (also that no API key works whose maker is no administrator any
more), the stored secrets and the files in certs/ against the key, the bytes of every stored content, and whether root owns files in the data
directory of another user. Reads all of them, so it takes a while on a large store. The server may be running. Accounts whose
emails are one by now, however they are spelled, are listed too, which is no damage; nor is a note on stderr. Exit code: 0 all
is well, 1 damage, each named in a line. Of a workspace in an object store this checks the copy of the database, then the store,
as svc store check does, which reads every content.`,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    if (words.length > 0) throw new UsageError(`svc check takes flags only, not "${words[0]}"`)
    if (isOfStore(config)) return (await import('./store/check-machine.ts')).checkMachine(config, io)
    requireDatabase(config)
    const problems = new Problems(io)
    try {
      await onDataDir(config, io, async (ctx) => {
        for await (const problem of findProblems(ctx))
          problems.tell(problem, ...(problem.kind.startsWith('content_') ? [CONTENT_HINT] : []))
        for (const problem of findUnreadableSecrets(ctx)) problems.tell(problem, keyHint(config))
        tellOfCertificates(ctx, problems, config)
        tellOfTwins(ctx, io)
      })
      problems.add(tellOfForeign(config, io))
      tellOfReserve(config, io)
    } catch (error) {
      problems.tellOfEnd(error)
    }
    if (problems.count > 0) throw new CommandFailure(problems.summary(config))
    io.stdout.write('all is well\n')
    return EXIT.ok
  },
}

/** No damage: a server makes it as soon as there is room. */
function tellOfReserve({ dataDir }: Config, io: Io): void {
  if (reserveBytes(dataDir) > 0) return
  io.stderr.write(
    'note: there is no reserve, which deleting and signing in need on a full disk; a server makes it once enough is free\n',
  )
}

const CONTENT_HINT = '; publish the named files again, which stores their contents anew'
