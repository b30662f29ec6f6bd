import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { fileKey, filePath, fileUrl, newFilePath } from '../../modules/files/keys.ts'
import { uploadToken } from '../../modules/files/tokens.ts'
import { DEFAULT_PRESIGNED_BYTES, MAX_UPLOAD_SECONDS } from '../language/handlers/presigned-upload.ts'
import type { Runner, StepContext } from '../runner.ts'
import { optionalText, wholeNumber } from './config.ts'
import { flagOf, limitsOf, pathText, projectOf } from './file-config.ts'
import { textOrField } from './from-body.ts'

type Config = Readonly<Record<string, unknown>>
type Place = { path: string; originalName: string }

export const presignedUploadRunner: Runner = {
  run(step, config) {
    const { ctx } = step
    const project = projectOf(step)
    const subDir = filePath(project, pathText(config, 'subDir'))
    const place = optionalText(config, 'keyStrategy') === 'verbatim' ? verbatim : named
    const { path, originalName } = place(step, config, subDir)
    const expiresIn = Math.min(wholeNumber(config, 'expiresIn', MAX_UPLOAD_SECONDS, 1), MAX_UPLOAD_SECONDS)
    const endsAt = ctx.now() + expiresIn * 1000
    const { maxBytes, types } = limitsOf(step, config, DEFAULT_PRESIGNED_BYTES)
    const key = fileKey(project, path)
    const token = uploadToken(ctx, { projectId: project.id, path, endsAt, maxBytes, types })
    return {
      uploadUrl: `/_svc/uploads?token=${token}`,
      storageKey: key,
      publicPath: fileUrl(path),
      storedFilename: path.slice(path.lastIndexOf('/') + 1),
      originalName,
      expiresIn,
      expiresAt: isoTime(endsAt),
      maxFileSize: config['maxFileSize'] ?? null,
      allowedMimeTypes: config['allowedMimeTypes'] ?? null,
    }
  },
}

function named(step: StepContext, config: Config, subDir: string): Place {
  const originalName = textOrField(step, config, 'filename')
  if (originalName === '')
    throw new AppError('invalid', 'filename is empty: send the name of the file', {
      code: 'MISSING_FILENAME',
    })
  const dateBucket = flagOf(config, 'dateBucket', false)
  const { path } = newFilePath(step.ctx, projectOf(step), { subDir, originalName, dateBucket })
  return { path, originalName }
}

function verbatim(step: StepContext, config: Config, subDir: string): Place {
  const key = textOrField(step, config, 'key', 'path')
  if (key === '')
    throw new AppError('invalid', 'key is empty: send the path of the file', { code: 'MISSING_KEY' })
  const path = filePath(projectOf(step), subDir, key)
  return {
    path,
    originalName: textOrField(step, config, 'filename') || path.slice(path.lastIndexOf('/') + 1),
  }
}
