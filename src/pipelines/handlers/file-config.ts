import { AppError } from '../../domain/errors.ts'
import { fileTooLarge } from '../../modules/files/service.ts'
import { isAllowedType } from '../../modules/files/types.ts'
import { findProjectNames, type ProjectNames } from '../../modules/projects/service.ts'
import { plain } from '../language/json-text.ts'
import type { StepContext } from '../runner.ts'
import { optionalText, wholeNumber } from './config.ts'

/** How the handlers for files read their configuration. */

type Config = Readonly<Record<string, unknown>>

/** The project whose files a step deals with. */
export function projectOf({ ctx, projectId }: StepContext): ProjectNames {
  const project = findProjectNames(ctx, projectId)
  if (project === null) throw new AppError('not_found', 'There is no such project')
  return project
}

/** A text that must be there: a path that resolves to nothing never stands for everything. */
export function pathText(config: Config, key: string): string {
  const text = optionalText(config, key)
  if (text !== null && text.trim() !== '') return text
  throw new AppError('invalid', `${key} is empty: name a path`, { code: 'INVALID_PATH' })
}

export function flagOf(config: Config, key: string, fallback: boolean): boolean {
  const value = config[key]
  if (value === undefined || value === null || value === '') return fallback
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'false') return value === 'true'
  throw new AppError('invalid', `${key} must be true or false`)
}

export type FileLimits = { maxBytes: number; types: string[] | null }

/** `types` is null where every type is taken. */
export const limitsOf = ({ ctx }: StepContext, config: Config, defaultBytes: number): FileLimits => ({
  maxBytes: Math.min(wholeNumber(config, 'maxFileSize', defaultBytes, 1), ctx.config.maxUploadBytes),
  types: typesOf(config),
})

function typesOf(config: Config): string[] | null {
  const given = plain(config['allowedMimeTypes'])
  if (given === undefined || given === null) return null
  return [given].flat().map((one) => {
    if (typeof one !== 'string') throw new AppError('invalid', 'allowedMimeTypes must be a list of types')
    return one.trim().toLowerCase()
  })
}

/** Throws 413 or 415 for a file that a step does not take. */
export function checkFile(
  { size, type, name }: { size: number; type: string | null; name: string },
  { maxBytes, types }: FileLimits,
): void {
  if (size > maxBytes) throw fileTooLarge(maxBytes)
  if (types === null || isAllowedType(types, type, name)) return
  throw new AppError(
    'unsupported_media_type',
    `A file of this type is not taken here; taken are: ${types.join(', ') || 'none'}`,
    { code: 'INVALID_MIME_TYPE' },
  )
}

/** The path of an address, decoded once; null if it is none. */
export function decodedPath(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return null
  }
}
