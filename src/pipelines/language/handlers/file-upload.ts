import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import type { Handler } from '../handler.ts'
import { expression, schemaId } from './config.ts'
import {
  allowedMimeTypes,
  dateBucket,
  extraFields,
  foreseeFiles,
  maxFileSize,
  RECORD_FIELDS,
  subDir,
  UPLOAD_RESULT,
} from './file-config.ts'
import { constantOf } from './words.ts'

export const DEFAULT_UPLOAD_BYTES = 10 * 1024 * 1024

export const fileUploadHandler: Handler<'file_upload_handler'> = {
  names: ['file_upload_handler'],
  summary: `Stores the file called \`file\` of a multipart form, or what \`sourceUrl\` answers, and a record of it, both or neither. Several such steps of a rule store the same file each. The form may then be 10 MiB larger than \`maxFileSize\`. ${RECORD_FIELDS}`,
  result: UPLOAD_RESULT,
  config: Type.Object(
    {
      schemaId,
      subDir,
      allowedMimeTypes: Type.Optional(allowedMimeTypes),
      maxFileSize: Type.Optional(maxFileSize(DEFAULT_UPLOAD_BYTES)),
      dateBucket: Type.Optional(dateBucket),
      extraFields: Type.Optional(extraFields),
      sourceUrl: Type.Optional(
        expression('an https address to fetch the file from, instead of the form; up to 5 redirects'),
      ),
    },
    { additionalProperties: false },
  ),
  foresee: (config) => [...foreseeFiles(config), ...checkSource(config['sourceUrl'])],
}

function checkSource(given: unknown): ErrorDetail[] {
  const url = constantOf(given)
  const isGood = typeof url !== 'string' || (URL.canParse(url) && new URL(url).protocol === 'https:')
  return isGood
    ? []
    : [{ path: 'sourceUrl', message: 'must be an https address, such as https://example.com/photo.png' }]
}
