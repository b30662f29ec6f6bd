import { CHECKS_FILE, MAX_CHECKS_BYTES } from '../../domain/checks-file.ts'
import { AppError } from '../../domain/errors.ts'
import { formatProblem, type Problem, sortProblems } from '../../domain/file-problems.ts'
import { type ReleaseChecks, readReleaseChecks } from '../../domain/release-checks.ts'
import { IS_UTF16, textOf } from '../../domain/text-file.ts'

/** Reads a checks file. Throws `CHECKS_INVALID` with all that is wrong. Loads the YAML reader when it is first needed. */
export async function readChecksFile(file: string, bytes: Uint8Array): Promise<ReleaseChecks> {
  const text = textOf(bytes)
  if (text === null) throw wrongChecks([{ file, line: 1, column: 1, message: IS_UTF16 }])
  const { readYaml } = await import('../../domain/yaml-file.ts')
  const yaml = readYaml(file, text)
  if (yaml.problems.length > 0) throw wrongChecks(yaml.problems)
  const { checks, faults } = readReleaseChecks(yaml.value)
  if (faults.length > 0)
    throw wrongChecks(
      faults.map(({ path, place, message }) => ({
        file,
        ...yaml.at(path, place),
        message: named(path, message),
      })),
    )
  return checks
}

/** Throws `CHECKS_INVALID` for a file that nobody would write. */
export function refuseLargeChecks({ path, sizeBytes }: { path: string; sizeBytes: number }): void {
  if (sizeBytes <= MAX_CHECKS_BYTES) return
  const message = `has ${sizeBytes} bytes; at most ${MAX_CHECKS_BYTES} are read`
  throw wrongChecks([{ file: path, line: 1, column: 1, message }])
}

const named = (path: readonly (string | number)[], message: string): string => {
  const key = path.findLast((step) => typeof step === 'string')
  return key === undefined ? message : `${key}: ${message}`
}

/** Whoever breaks one line in fifty thousand ways need not read all of them. */
const MAX_TOLD = 100

function wrongChecks(problems: readonly Problem[]): AppError {
  const lines = sortProblems(problems).slice(0, MAX_TOLD).map(formatProblem)
  return new AppError('invalid', `${lines.join('\n')}\nNothing was published: mend ${CHECKS_FILE}`, {
    code: 'CHECKS_INVALID',
    details: sortProblems(problems)
      .slice(0, MAX_TOLD)
      .map(({ file, line, column, message }) => ({ path: `${file}:${line}:${column}`, message })),
  })
}
