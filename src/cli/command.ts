import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Put } from '../platform/lines-out.ts'

/** What every command ends with. contract: 5.3, 9.1; 78 is a bad configuration (section 1). */
export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3, badConfig: 78 } as const

/** The outside world of a command. `io.ts` makes the real one; tests bring their own. */
export type Io = {
  /** `put` is for what nobody may wait for: it writes beside this thread, and not always all of it. */
  stdout: { write(text: string): void; put: Put }
  stderr: { write(text: string): void }
  /** One line without its line end; not shown while it is typed on a terminal. Undefined when input has ended. */
  readPassword(prompt: string): Promise<string | undefined>
  /** The same, shown while it is typed. Missing where no person sits at a terminal to be asked. */
  ask?: ((prompt: string) => Promise<string | undefined>) | undefined
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** A person watches stderr: progress may be drawn over itself. */
  isTerminal: boolean
  sleep(ms: number): Promise<void>
  /** Milliseconds that only grow; for rates, never for dates. */
  nowMs(): number
}

export type Command = {
  /** One line for the list of `svc help`. */
  summary: string
  /** The whole text of `svc help COMMAND`; its first line is the synopsis. */
  usage: string
  run(args: string[], io: Io): Promise<number> | number
}

/** Each is loaded when it is asked for: what the others need must not slow the start of the server. */
export type Commands = Readonly<Record<string, () => Command | Promise<Command>>>

/** A failure that a person can act on: its message is all that is shown, its `exitCode` ends the process. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.failed, options: { cause?: unknown } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The command line was wrong, so its synopsis is shown with it. */
export class UsageError extends CommandFailure {
  constructor(message: string) {
    super(message, EXIT.usage)
  }
}

/** `parseArgs` of node:util, but what it refuses becomes a `UsageError`. */
export function parseFlags<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs<T>(config)
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) throw new UsageError(inOurWords(error.message))
    throw error
  }
}

/** Node goes on with advice about words that begin with a dash, which none of ours do. */
const inOurWords = (message: string): string =>
  message
    .replace(/^Unknown option '([^']*)'.*$/s, 'there is no flag $1')
    .replace(/^Option '(--[\w-]+) <value>' argument missing$/, '$1 needs a value')

/**
 * Text of others (file names, a server's message) without what could drive a terminal, turn the direction of a line, or be
 * a command to the runner of a workflow (`::` in front, `##[` anywhere).
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ').replace(/^\s*::|##\[/g, spaced)
}

/** JSON that is as harmless to look at: what `JSON.stringify` leaves as it is, escaped. */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent)
  return json
    .replaceAll('##[', '#\\u0023[')
    .replace(
      /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
}

const spaced = (start: string): string => [...start].join(' ')
