import { fileKey, fileUrl } from '../../modules/files/keys.ts'
import type { StoredFile } from '../../modules/files/service.ts'
import { createRecordIn } from '../../modules/records/service.ts'
import type { Schema } from '../../modules/schemas/service.ts'
import type { StepContext } from '../runner.ts'
import { objectOf } from './config.ts'
import type { projectOf } from './file-config.ts'

/** How people know a file. */
type Names = { filename: string; originalName: string; subDir: string }

export type UploadOutput = {
  id: string
  filename: string
  url: string
  storage_path: string
  content_type: string
  size: number
  original_name: string
}

type Recorded = {
  schema: Schema
  project: ReturnType<typeof projectOf>
  config: Readonly<Record<string, unknown>>
  names: Names
}

/** Stores the record of a file, in the transaction of the file. contract 14.3. */
export function recordUpload(
  { ctx }: StepContext,
  { path, contentType, size }: StoredFile,
  { schema, project, config, names }: Recorded,
): UploadOutput {
  const shown = {
    filename: names.filename,
    url: fileUrl(path),
    storage_path: fileKey(project, path),
    content_type: contentType,
    size,
    original_name: names.originalName,
  }
  const values = { ...shown, sub_dir: names.subDir, ...objectOf(config, 'extraFields') }
  const { id } = createRecordIn(ctx, schema, values)
  return { id, ...shown }
}
