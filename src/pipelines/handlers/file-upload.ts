import { AppError } from '../../domain/errors.ts'
import { filePath, newFilePath } from '../../modules/files/keys.ts'
import { keepFile } from '../../modules/files/service.ts'
import { typeOfFile } from '../../modules/files/types.ts'
import { type FetchedFile, fetchFile } from '../fetch-file.ts'
import { DEFAULT_UPLOAD_BYTES } from '../language/handlers/file-upload.ts'
import type { Runner, StepContext } from '../runner.ts'
import { optionalText, schemaOf } from './config.ts'
import { checkFile, flagOf, limitsOf, pathText, projectOf } from './file-config.ts'
import { recordUpload } from './upload-record.ts'

export const fileUploadRunner: Runner = {
  boundsOwnTime: true,
  async run(step, config) {
    const schema = schemaOf(step, config)
    const project = projectOf(step)
    const subDir = filePath(project, pathText(config, 'subDir'))
    const dateBucket = flagOf(config, 'dateBucket', false)
    const limits = limitsOf(step, config, DEFAULT_UPLOAD_BYTES)
    const { staged, originalName, declaredType } = await fileOf(step, config, limits.maxBytes)
    try {
      checkFile({ size: staged.size, type: declaredType, name: originalName }, limits)
      const { path, filename } = newFilePath(step.ctx, project, { subDir, originalName, dateBucket })
      const contentType = typeOfFile(declaredType, originalName)
      const file = { projectId: project.id, path, contentType, isRegistered: true }
      const names = { filename, originalName, subDir }
      const { result } = await keepFile(step.ctx, file, staged, (stored) =>
        recordUpload(step, stored, { schema, project, config, names }),
      )
      return result
    } catch (error) {
      await staged.discard()
      throw error
    }
  },
}

async function fileOf(
  step: StepContext,
  config: Readonly<Record<string, unknown>>,
  maxBytes: number,
): Promise<FetchedFile> {
  const source = optionalText(config, 'sourceUrl') ?? ''
  if (source !== '') return fetchFile(step, source, maxBytes)
  const { body, file } = step.input
  if (body.kind === 'broken') throw body.error
  if (file === undefined)
    throw new AppError(
      'invalid',
      'There is no file: send one as the part "file" of a form, multipart/form-data',
      { code: 'NO_FILE' },
    )
  return { staged: file.take(), originalName: file.filename, declaredType: file.contentType }
}
