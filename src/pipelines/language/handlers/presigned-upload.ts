import { Type } from 'typebox'
import type { Handler } from '../handler.ts'
import { expression, numberUpTo } from './config.ts'
import { allowedMimeTypes, dateBucket, foreseeFiles, maxFileSize, subDir } from './file-config.ts'
import { checkWholeNumber, checkWord } from './words.ts'

export const MAX_UPLOAD_SECONDS = 3600
export const DEFAULT_PRESIGNED_BYTES = 100 * 1024 * 1024
const KEY_STRATEGIES = ['uuid', 'verbatim']

export const presignedUploadHandler: Handler<'presigned_upload'> = {
  names: ['presigned_upload'],
  summary:
    'Makes an address to which a browser sends a file by `PUT`, with nothing but the bytes as body. Nothing is stored until it does. A `register_upload` then makes the record.',
  result:
    '`{ uploadUrl, storageKey, publicPath, storedFilename, originalName, expiresIn, expiresAt, maxFileSize, allowedMimeTypes }`; the last two as configured, else null.',
  config: Type.Object(
    {
      subDir,
      filename: Type.Optional(expression('the name of the file: default `request.body.filename`')),
      expiresIn: Type.Optional(
        numberUpTo(
          MAX_UPLOAD_SECONDS,
          `for how many seconds the address works: default ${MAX_UPLOAD_SECONDS}`,
        ),
      ),
      maxFileSize: Type.Optional(maxFileSize(DEFAULT_PRESIGNED_BYTES)),
      allowedMimeTypes: Type.Optional(allowedMimeTypes),
      dateBucket: Type.Optional(dateBucket),
      keyStrategy: Type.Optional(
        expression(
          '`uuid` (the default) puts a random id before the name; `verbatim` stores at `{subDir}/{key}` as it is, and replaces what is there',
        ),
      ),
      key: Type.Optional(expression('the path below `subDir` for `verbatim`: default `request.body.path`')),
    },
    { additionalProperties: false },
  ),
  check: ({ keyStrategy }) => checkWord(keyStrategy, 'keyStrategy', KEY_STRATEGIES),
  foresee: (config) => [
    ...foreseeFiles(config),
    ...checkWholeNumber(config, 'expiresIn', 1, Number.MAX_SAFE_INTEGER),
  ],
}
