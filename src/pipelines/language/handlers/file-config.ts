import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { expression, numberOr } from './config.ts'
import { checkWholeNumber, constantOf } from './words.ts'

/** What the configurations of the handlers for files share. contract 14.3. */

type Config = Readonly<Record<string, unknown>>

export const subDir = expression(
  'the folder that the files lie in, such as `photos` or `videos/{{steps.video.id}}`',
)
export const allowedMimeTypes = Type.Union([Type.Array(Type.String()), Type.String()], {
  description:
    'the types that are taken: `image/png`, `image/*` or `*/*`, as a list. The declared type must be one, and so must the type of a known extension; default every type',
})
export const flag = (description: string) => Type.Union([Type.Boolean(), Type.String()], { description })
export const dateBucket = flag(
  'true puts the files of each UTC day into a folder `YYYY-MM-DD`; default false',
)
export const maxFileSize = (fallback: number) =>
  numberOr(
    `the most bytes of a file: default ${fallback}; more than the \`MAX_UPLOAD_BYTES\` of the server counts as that`,
  )
export const extraFields = Type.Record(Type.String(), Type.Unknown(), {
  description: 'the values of further fields of the record, as expressions',
})

export const RECORD_FIELDS =
  'The record has the fields `filename`, `storage_path`, `content_type`, `size`, `url`, `sub_dir` and `original_name`, and those of `extraFields`; what the schema lacks is left out.'
export const UPLOAD_RESULT =
  '`{ id, filename, url, storage_path, content_type, size, original_name }`, where `id` is the id of the record.'

/** Finds what makes every run fail, or take no file. */
export const foreseeFiles = (config: Config): ErrorDetail[] => [
  ...checkPath(config, 'subDir'),
  ...checkTypes(config['allowedMimeTypes']),
  ...checkWholeNumber(config, 'maxFileSize', 1, Number.MAX_SAFE_INTEGER),
]

/** A path that is written out. What a visitor sends is checked when the step runs. */
export function checkPath(config: Config, key: string): ErrorDetail[] {
  const path = constantOf(config[key])
  if (typeof path !== 'string') return []
  const isGood = path
    .replaceAll(/^[ /]+|[ /]+$/g, '')
    .split('/')
    .every((segment) => !BAD_SEGMENTS.has(segment) && !segment.includes('\\'))
  return isGood
    ? []
    : [{ path: key, message: 'must be a path such as photos/2026, without empty, . or .. parts' }]
}

const BAD_SEGMENTS = new Set(['', '.', '..'])

function checkTypes(given: unknown): ErrorDetail[] {
  if (Array.isArray(given) && given.length === 0)
    return [{ path: 'allowedMimeTypes', message: 'allows no file: name types, or leave it out' }]
  return (Array.isArray(given) ? given : []).flatMap((one, i) => {
    const type = constantOf(one)
    const isGood = typeof type !== 'string' || TYPE.test(type)
    return isGood
      ? []
      : [{ path: `allowedMimeTypes[${i}]`, message: 'must be a type, such as image/png, image/* or */*' }]
  })
}

/** RFC 6838 §4.2. */
const TYPE = /^(\*\/\*|[a-z0-9][a-z0-9!#$&^_.+-]*\/(\*|[a-z0-9][a-z0-9!#$&^_.+-]*))$/i
