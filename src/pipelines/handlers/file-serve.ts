import { AppError } from '../../domain/errors.ts'
import { toNfc } from '../../domain/nfc.ts'
import { filePath, fileUrl } from '../../modules/files/keys.ts'
import { findFile, type StoredFile } from '../../modules/files/service.ts'
import type { ProjectNames } from '../../modules/projects/service.ts'
import { DEFAULT_MAX_AGE } from '../language/handlers/file-serve.ts'
import { DirectAnswer, type Runner, type StepContext } from '../runner.ts'
import { optionalText, wholeNumber } from './config.ts'
import { decodedPath, flagOf, projectOf } from './file-config.ts'

type Config = Readonly<Record<string, unknown>>

export const fileServeRunner: Runner = {
  async run(step, config) {
    const { ctx, input } = step
    const maxAge = wholeNumber(config, 'cacheMaxAge', DEFAULT_MAX_AGE, 0)
    const cacheability = optionalText(config, 'cacheability') === 'public' ? 'public' : 'private'
    const allowScripts = flagOf(config, 'allowScripts', false)
    const file = namedFile(step, config)
    if (file === undefined) throw notFound()
    const { arrival, serveFile } = input
    if (arrival === undefined || serveFile === undefined)
      throw new AppError('internal', 'There is nobody to send a file to: this run answers no request')
    const cacheControl = `${cacheability}, max-age=${maxAge}`
    const response = await serveFile(ctx, arrival.request, file, { cacheControl, allowScripts })
    return new DirectAnswer(response, { isFinal: true })
  },
}

/** What is no valid path names no file. */
function namedFile(step: StepContext, config: Config): StoredFile | undefined {
  const project = projectOf(step)
  try {
    const path =
      config['key'] === undefined
        ? pathOfRequest(step, project, filePath(project, optionalText(config, 'subDir') ?? ''))
        : filePath(project, optionalText(config, 'key') ?? '')
    return path === null ? undefined : findFile(step.ctx, project.id, path)
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_PATH') return undefined
    throw error
  }
}

/** The path behind `/api/uploads/{subDir}/` of the request, decoded once; null if it is another. */
function pathOfRequest({ input }: StepContext, project: ProjectNames, subDir: string): string | null {
  const asked = decodedPath(input.path)
  if (asked === null) return null
  const given = toNfc(asked)
  const start = `${fileUrl('')}${subDir}/`
  if (!given.startsWith(start)) return null
  const path = given.slice(fileUrl('').length)
  return filePath(project, path) === path ? path : null
}

const notFound = () => new AppError('not_found', 'There is no such file', { code: 'FILE_NOT_FOUND' })
