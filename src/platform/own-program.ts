import { fileURLToPath } from 'node:url'
import { IS_COMPILED } from './is-compiled.ts'

/**
 * The command line by which this program starts itself: the executable alone, or Bun and `entry` when it runs from
 * sources. An executable that was replaced or removed since the start still starts itself, in its own version.
 */
export function ownProgram(entry: URL): string[] {
  return IS_COMPILED ? [ownExecutable()] : [process.execPath, fileURLToPath(entry)]
}

const ownExecutable = (): string => (process.platform === 'linux' ? '/proc/self/exe' : process.execPath)
