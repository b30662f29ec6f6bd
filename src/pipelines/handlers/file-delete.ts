import { AppError } from '../../domain/errors.ts'
import { filePath, pathOfKey } from '../../modules/files/keys.ts'
import { deleteFiles } from '../../modules/files/service.ts'
import { SELECTORS } from '../language/handlers/file-delete.ts'
import { plain } from '../language/json-text.ts'
import type { Runner } from '../runner.ts'
import { flagOf, pathText, projectOf } from './file-config.ts'

type Config = Readonly<Record<string, unknown>>
type Project = { id: string; owner: string; name: string }

const MAX_KEYS = 10_000

export const fileDeleteRunner: Runner = {
  boundsOwnTime: true,
  async run(step, config) {
    const project = projectOf(step)
    const selector = SELECTORS.find((key) => config[key] !== undefined)
    if (selector === undefined) throw new AppError('internal', 'The step needs prefix, key or keys')
    const dryRun = flagOf(config, 'dryRun', false)
    const given = selector === 'keys' ? keysOf(config) : pathText(config, selector)
    const which =
      typeof given !== 'string'
        ? { paths: given.map((key) => pathNamed(project, key)) }
        : selector === 'prefix'
          ? { folder: pathNamed(project, given) }
          : { paths: [pathNamed(project, given)] }
    const { deleted } = await deleteFiles(step.ctx, project.id, which, { dryRun })
    return { deleted, [selector]: given, dryRun }
  },
}

/** Relative to the files of the project, or a whole key. */
const pathNamed = (project: Project, given: string): string =>
  pathOfKey(project, given) ?? filePath(project, given)

function keysOf(config: Config): string[] {
  const given = plain(config['keys'])
  if (given === null) return []
  if (!Array.isArray(given) || given.length > MAX_KEYS)
    throw new AppError('invalid', `keys must be a list of at most ${MAX_KEYS} paths`)
  return given.map((key: unknown, i) => {
    if (typeof key === 'string' && key.trim() !== '') return key
    throw new AppError('invalid', `keys[${i}] is no path`, { code: 'INVALID_PATH' })
  })
}
