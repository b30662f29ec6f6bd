import { ConfigError } from '../config/config.ts'
import { DataDirError } from '../domain/data-dir-error.ts'
import { DatabaseLockedError } from '../platform/database-lock.ts'
import { ServeError } from '../server/listeners.ts'
import {
  type Command,
  CommandFailure,
  type Commands,
  EXIT,
  type Io,
  printable,
  UsageError,
} from './command.ts'
import { systemErrorOf } from './system-error.ts'

/**
 * Runs the command that `argv` (without executable and script) names and returns its exit code. `argv` without
 * a name, or beginning with a flag, belongs to `defaultName`. Only a bug is thrown on, not what the machine refuses.
 */
export async function runCommand(
  commands: Commands,
  argv: readonly string[],
  io: Io,
  defaultName: string,
): Promise<number> {
  const { name, args } = splitArgv(argv, defaultName)
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load === undefined) {
    io.stderr.write(`svc: there is no command "${printable(name)}"; svc help lists them\n`)
    return EXIT.usage
  }
  const command = await load()
  try {
    if (!wantsHelp(args)) return await command.run(args, io)
    io.stdout.write(`${command.usage.trimEnd()}\n`)
    return EXIT.ok
  } catch (error) {
    return reportFailure(name, command, error, io)
  }
}

function splitArgv(argv: readonly string[], defaultName: string): { name: string; args: string[] } {
  const [first, ...rest] = argv
  if (first === '--help' || first === '-h') return { name: 'help', args: rest }
  if (first === '--version' || first === '-v') return { name: 'version', args: rest }
  if (first === undefined || first.startsWith('-')) return { name: defaultName, args: [...argv] }
  return { name: first, args: rest }
}

function wantsHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const flags = end === -1 ? args : args.slice(0, end)
  return flags.includes('--help') || flags.includes('-h')
}

function reportFailure(name: string, command: Command, error: unknown, io: Io): number {
  if (error instanceof DataDirError || error instanceof ServeError)
    return reportFailure(name, command, new CommandFailure(error.message), io)
  if (error instanceof ConfigError)
    return reportFailure(name, command, new CommandFailure(error.message, EXIT.badConfig), io)
  if (error instanceof DatabaseLockedError)
    return reportFailure(name, command, new CommandFailure(error.message, EXIT.locked), io)
  if (!(error instanceof CommandFailure)) {
    const refused = systemErrorOf(error)
    if (refused === undefined) throw error
    return reportFailure(name, command, asFailure(refused), io)
  }
  const message = error.message.split('\n').map(printable).join('\n')
  io.stderr.write(`svc ${name}: ${message}\n`)
  if (error instanceof UsageError) io.stderr.write(`\n${synopsis(command)}\nsvc help ${name} explains it.\n`)
  return error.exitCode
}

/** A statement of a command that names no holder. */
const asFailure = (refused: Error): CommandFailure =>
  'code' in refused && /^SQLITE_(BUSY|LOCKED)/.test(String(refused.code))
    ? new CommandFailure(
        `${refused.message}: another program holds it; let that finish and try again`,
        EXIT.locked,
      )
    : new CommandFailure(refused.message)

/** The whole text would push what was wrong off the screen. */
const synopsis = ({ usage }: Command): string => usage.trimEnd().replace(/\n\n.*$/s, '')
