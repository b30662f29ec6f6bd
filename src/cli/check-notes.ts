import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import { DataDirError } from '../domain/data-dir-error.ts'
import { messageOf } from '../domain/errors.ts'
import { findUnreadableCertificates } from '../modules/certificates/unreadable.ts'
import { findTwins, type Twins } from '../modules/users/service.ts'
import { findForeignFiles } from '../platform/foreign-files.ts'
import { CommandFailure, type Io, printable } from './command.ts'
import { systemErrorOf } from './system-error.ts'

/** Prints problems, a line each, and keeps what the error at the end says of them. */
export class Problems {
  count = 0
  readonly #hints = new Set<string>()
  readonly #io: Io

  constructor(io: Io) {
    this.#io = io
  }

  tell({ kind, detail }: { kind: string; detail: string }, ...hints: string[]): void {
    this.count += 1
    for (const hint of hints) this.#hints.add(hint)
    this.#io.stdout.write(`${kind}: ${printable(detail)}\n`)
  }

  /** Those that were printed elsewhere. */
  add({ count, hint }: { count: number; hint: string }): void {
    this.count += count
    if (count > 0) this.#hints.add(hint)
  }

  /** Tells of damage that ended the check; throws any other error. */
  tellOfEnd(error: unknown): void {
    const damaged = damagedBy(error)
    if (damaged === undefined) throw error
    this.tell({ kind: `${damaged}_damaged`, detail: messageOf(error) })
  }

  summary({ dataDir }: Config): string {
    const what = this.count === 1 ? 'problem' : 'problems'
    return `${this.count} ${what} found in ${dataDir}${[...this.#hints].join('')}`
  }
}

/** Prints what a server would leave aside at its start. */
export function tellOfCertificates(ctx: Context, problems: Problems, config: Config): void {
  for (const problem of findUnreadableCertificates(ctx))
    problems.tell(
      problem,
      keyHint(config),
      '; what cannot be read in certs/ the server asks for anew, and may be deleted',
    )
}

export function tellOfTwins(ctx: Context, io: Io): void {
  for (const twins of findTwins(ctx)) io.stdout.write(`${printable(twinLine(twins))}\n`)
}

/** Prints what root owns in another user's data directory. */
export function tellOfForeign({ dataDir }: Config, io: Io): { count: number; hint: string } {
  const { details, count, help } = findForeignFiles(resolve(dataDir))
  for (const detail of details) io.stdout.write(`foreign_file: ${printable(detail)}\n`)
  return { count, hint: `; what is root's is given back by ${help}` }
}

/** A note: nothing is damaged. With the ids, because most such emails look the same. contract 12.13. */
const twinLine = (twins: Twins): string =>
  `one email, ${twins.length} accounts: ${twins.map(({ id, email }) => `${email} (${id})`).join(', ')}`

/** The service often has other settings than the shell that runs this command. */
export const keyHint = ({ secretKey }: Config): string =>
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
