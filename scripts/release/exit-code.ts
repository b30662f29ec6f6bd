import { CommandFailure, EXIT, UsageError } from '../../src/cli/command.ts'
import { systemErrorOf } from '../../src/cli/system-error.ts'

/** Runs a script and says on stderr what it or the machine refuses. Only a bug is thrown on. */
export async function exitCodeOf(
  name: string,
  usage: string,
  work: () => Promise<number> | number,
): Promise<number> {
  try {
    return await work()
  } catch (error) {
    const refused = error instanceof CommandFailure ? error : systemErrorOf(error)
    if (refused === undefined) throw error
    console.error(`${name}: ${refused.message}${error instanceof UsageError ? `\n${usage}` : ''}`)
    return error instanceof CommandFailure ? error.exitCode : EXIT.failed
  }
}
