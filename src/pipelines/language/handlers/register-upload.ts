import { Type } from 'typebox'
import type { Handler } from '../handler.ts'
import { expression, schemaId } from './config.ts'
import {
  allowedMimeTypes,
  extraFields,
  flag,
  foreseeFiles,
  maxFileSize,
  RECORD_FIELDS,
  subDir,
  UPLOAD_RESULT,
} from './file-config.ts'

export const DEFAULT_REGISTERED_BYTES = 500 * 1024 * 1024

export const registerUploadHandler: Handler<'register_upload'> = {
  names: ['register_upload'],
  summary: `Makes the record of a file that was sent to the address of a \`presigned_upload\`. That address, and every older one for the file, takes nothing more from then on. ${RECORD_FIELDS}`,
  result: UPLOAD_RESULT,
  config: Type.Object(
    {
      schemaId,
      subDir,
      storageKey: Type.Optional(
        expression('what `presigned_upload` gave as `storageKey`: default `request.body.storageKey`'),
      ),
      originalName: Type.Optional(
        expression('the name of the file for people: default `request.body.originalName`'),
      ),
      maxFileSize: Type.Optional(maxFileSize(DEFAULT_REGISTERED_BYTES)),
      allowedMimeTypes: Type.Optional(allowedMimeTypes),
      deleteOnViolation: Type.Optional(
        flag('false keeps a file that is too large or of another type, which is deleted by default'),
      ),
      extraFields: Type.Optional(extraFields),
    },
    { additionalProperties: false },
  ),
  foresee: foreseeFiles,
}
