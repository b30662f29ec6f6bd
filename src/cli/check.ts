import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { DataDirError } from '../domain/data-dir-error.ts'
import { messageOf } from '../domain/errors.ts'
import { findProblems } from '../modules/deployments/check.ts'
import { findUnreadableSecrets } from '../modules/secrets/unreadable.ts'
import { findTwins, type Twins } from '../modules/users/service.ts'
import { findForeignFiles } from '../platform/foreign-files.ts'
import { reserveBytes } from '../platform/reserve.ts'
import { type Command, CommandFailure, EXIT, type Io, printable, UsageError } from './command.ts'
import { isOfStore } from './on-workspace.ts'
import { onDataDir, requireDatabase } from './operator.ts'
import { settingsOf } from './settings.ts'
import { systemErrorOf } from './system-error.ts'

export const checkCommand: Command = {
  summary: 'Check the database and every stored file',
  usage: `usage: svc check [--data-dir ./data]

Checks the database, what its rows promise of each other (also that no API key works whose maker is no administrator any
more), the stored secrets against the key, the bytes of every stored content, and whether root owns files in the data
directory of another user. Reads all of them, so it takes a while on a large store. The server may be running. Accounts whose
emails are one by now, however they are spelled, are listed too, which is no damage; nor is a note on stderr. Exit code: 0 all
is well, 1 damage, each named in a line. Of a workspace in an object store the store is checked, as svc store check does.`,
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    if (words.length > 0) throw new UsageError(`svc check takes flags only, not "${words[0]}"`)
    // Opening a copy while no server runs would move what is not shipped into its file.
    if (isOfStore(config)) return (await import('./store/check.ts')).check(config, false, io)
    requireDatabase(config)
    let found = 0
    const hints = new Set<string>()
    try {
      await onDataDir(config, io, async (ctx) => {
        const say = ({ kind, detail }: { kind: string; detail: string }): void => {
          found += 1
          io.stdout.write(`${kind}: ${printable(detail)}\n`)
        }
        for await (const problem of findProblems(ctx)) {
          if (problem.kind.startsWith('content_')) hints.add(CONTENT_HINT)
          say(problem)
        }
        for (const problem of findUnreadableSecrets(ctx)) {
          hints.add(keyHint(config))
          say(problem)
        }
        for (const twins of findTwins(ctx)) io.stdout.write(`${printable(twinLine(twins))}\n`)
      })
      const foreign = findForeignFiles(resolve(config.dataDir))
      for (const detail of foreign.details) io.stdout.write(`foreign_file: ${printable(detail)}\n`)
      if (foreign.count > 0) hints.add(`; what is root's is given back by ${foreign.help}`)
      found += foreign.count
      tellOfReserve(config, io)
    } catch (error) {
      const damaged = damagedBy(error)
      if (damaged === undefined) throw error
      io.stdout.write(`${damaged}_damaged: ${printable(messageOf(error))}\n`)
      found += 1
    }
    if (found > 0)
      throw new CommandFailure(
        `${found} ${found === 1 ? 'problem' : 'problems'} found in ${config.dataDir}${[...hints].join('')}`,
      )
    io.stdout.write('all is well\n')
    return EXIT.ok
  },
}

/** A note: nothing is damaged. With the ids, because most such emails look the same. contract 12.13. */
const twinLine = (twins: Twins): string =>
  `one email, ${twins.length} accounts: ${twins.map(({ id, email }) => `${email} (${id})`).join(', ')}`

/** No damage: a server makes it as soon as there is room. */
function tellOfReserve({ dataDir }: Config, io: Io): void {
  if (reserveBytes(dataDir) > 0) return
  io.stderr.write(
    'note: there is no reserve, which deleting and signing in need on a full disk; a server makes it once enough is free\n',
  )
}

const CONTENT_HINT = '; publish the named files again, which stores their contents anew'

/** The service often has other settings than the shell that runs this command. */
const keyHint = ({ secretKey }: Config): string =>
  secretKey === null ? '; if its server is given SECRET_KEY, this command needs it too' : ''

/** A database that cannot be opened or read counts as damaged; one that this user may not read does not. */
function damagedBy(error: unknown): DataDirError['damaged'] {
  if (error instanceof DataDirError) return error.damaged
  if (error instanceof CommandFailure) return undefined
  const code = codeOf(systemErrorOf(error))
  return code === undefined || /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code) ? 'database' : undefined
}

const codeOf = (error: Error | undefined): string | undefined =>
  error !== undefined && 'code' in error ? String(error.code) : undefined
