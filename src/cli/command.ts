import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Put } from '../platform/lines-out.ts'

/**
 * Exit codes of every command. contract §5.3, §9.1; 75 is a locked database, contract 12.11; 78 is a bad configuration,
 * contract §1.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3, locked: 75, badConfig: 78 } as const

/** The outside world of a command. `io.ts` makes the real one; tests bring their own. */
export type Io = {
  /** `put` writes without blocking this thread, and may drop output that nobody reads. */
  stdout: { write(text: string | Uint8Array): void; put: Put }
  stderr: { write(text: string): void }
  /** Reads one line, without its line end and without echo on a terminal. Undefined at the end of input. */
  readPassword(prompt: string): Promise<string | undefined>
  /** The same with echo. Missing when there is no terminal to ask at. */
  ask?: ((prompt: string) => Promise<string | undefined>) | undefined
  /** Opens an http or https address in a browser. False where there is no way to. */
  openUrl(url: string): Promise<boolean>
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** Stderr is a terminal, so progress may be redrawn in place. */
  isTerminal: boolean
  sleep(ms: number): Promise<void>
  /** Monotonic milliseconds, for rates and never for dates. */
  nowMs(): number
}

export type Command = {
  /** One line for the list of `svc help`. */
  summary: string
  /** The whole text of `svc help COMMAND`; its first line is the synopsis. */
  usage: string
  /** The second words that it takes, such as push in `svc rules push`; `usage` explains them all. */
  verbs?: readonly string[]
  run(args: string[], io: Io): Promise<number> | number
}

/** Each command is loaded on demand, so that the others do not slow down the start of the server. */
export type Commands = Readonly<Record<string, () => Command | Promise<Command>>>

/** A failure that a person can act on. Only its message is shown; the process ends with its `exitCode`. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.failed, options: { cause?: unknown } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The command line was wrong: the synopsis is shown too. */
export class UsageError extends CommandFailure {
  constructor(message: string) {
    super(message, EXIT.usage)
  }
}

/** `parseArgs` of node:util, whose errors become a `UsageError`. */
export function parseFlags<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs<T>(config)
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) throw new UsageError(inOurWords(error.message))
    throw error
  }
}

/** Node gives advice that does not fit here, and several lines of it. */
const inOurWords = (message: string): string =>
  message
    .replace(/^Unknown option '([^']*)'.*$/s, 'there is no flag $1')
    .replace(/^Option '(--[\w-]+) <value>' argument missing$/, '$1 needs a value')
    .replace(
      /^Option '(--[\w-]+)' argument is ambiguous.*$/s,
      '$1 needs a value; one that begins with a dash is written as $1=-…',
    )
    .replace(/^Option '(--[\w-]+)' does not take an argument$/, '$1 takes no value')
    .replace(/^Unexpected argument '(.*)'\. This command .*$/s, 'it takes flags only, not "$1"')

/**
 * Untrusted text (file names, a server's message) without control sequences for a terminal, changes of text direction, and
 * workflow commands of a CI runner (`::` at the start, `##[` anywhere).
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ').replace(/^\s*::|##\[/g, spaced)
}

/** JSON that is safe to print: also escapes what `JSON.stringify` leaves as it is. */
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
