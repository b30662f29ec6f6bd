import { AppError } from '../../domain/errors.ts'
import { filePath, pathOfKey } from '../../modules/files/keys.ts'
import { deleteFiles, findFile, registerFile } from '../../modules/files/service.ts'
import { DEFAULT_REGISTERED_BYTES } from '../language/handlers/register-upload.ts'
import type { Runner, StepContext } from '../runner.ts'
import { schemaOf } from './config.ts'
import { checkFile, flagOf, limitsOf, pathText, projectOf } from './file-config.ts'
import { textOrField } from './from-body.ts'
import { recordUpload } from './upload-record.ts'

type Config = Readonly<Record<string, unknown>>

export const registerUploadRunner: Runner = {
  async run(step, config) {
    const { ctx } = step
    const schema = schemaOf(step, config)
    const project = projectOf(step)
    const subDir = filePath(project, pathText(config, 'subDir'))
    const limits = limitsOf(step, config, DEFAULT_REGISTERED_BYTES)
    const file = findFile(ctx, project.id, pathBelow(step, config, subDir))
    if (file === undefined)
      throw new AppError('not_found', 'There is no such file: send it to its uploadUrl first', {
        code: 'UPLOAD_NOT_FOUND',
      })
    const filename = file.path.slice(file.path.lastIndexOf('/') + 1)
    try {
      checkFile({ size: file.size, type: file.contentType, name: filename }, limits)
    } catch (error) {
      if (flagOf(config, 'deleteOnViolation', true))
        await deleteFiles(ctx, project.id, { paths: [file.path] })
      throw error
    }
    const originalName = textOrField(step, config, 'originalName') || filename.replace(ID_BEFORE, '')
    const names = { filename, originalName, subDir }
    return registerFile(ctx, file, () => recordUpload(step, file, { schema, project, config, names }))
  },
}

const ID_BEFORE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-(?=.)/

/** The path of the file; throws 400 unless it is one below the folder of the step. */
function pathBelow(step: StepContext, config: Config, subDir: string): string {
  const key = textOrField(step, config, 'storageKey')
  if (key === '')
    throw new AppError('invalid', 'storageKey is empty: send the one of the presigned_upload', {
      code: 'MISSING_STORAGE_KEY',
    })
  const path = pathOfKey(projectOf(step), key)
  if (path === null || !path.startsWith(`${subDir}/`))
    throw new AppError('invalid', 'storageKey is no key of a file that may be registered here', {
      code: 'INVALID_STORAGE_KEY',
    })
  return path
}
