import { operatorGrant } from '../../modules/auth/authorize.ts'
import { filePath } from '../../modules/files/keys.ts'
import { listFiles } from '../../modules/files/manage.ts'
import { keepFile, stageFile } from '../../modules/files/service.ts'
import { typeOfFile } from '../../modules/files/types.ts'
import { once } from '../../platform/byte-stream.ts'
import { mismatch, type RuleTest } from '../../rules/test-file.ts'
import { filesOf, partsOf, type TestContent } from '../../rules/test-parts.ts'
import { type Lab, SITE_OWNER } from '../lab.ts'

/** The bytes of the file that a test names, seen from the test. */
export type BytesAt = (path: string) => Uint8Array

const bytesOf = (content: TestContent, bytesAt: BytesAt): Uint8Array<ArrayBuffer> =>
  new Uint8Array('text' in content ? Buffer.from(content.text) : bytesAt(content.path))

/** The form of `request.multipart`. */
export function formOf(given: Record<string, unknown>, bytesAt: BytesAt): FormData {
  const form = new FormData()
  for (const part of partsOf(given)) {
    if ('value' in part) form.append(part.name, part.value)
    else {
      const type = part.type ?? 'application/octet-stream'
      form.append(part.name, new File([bytesOf(part.content, bytesAt)], part.filename, { type }))
    }
  }
  return form
}

/** Stores the files that exist before the request. */
export async function storeFiles(
  { ctx }: Lab,
  project: { id: string; repo: string },
  given: Record<string, unknown>,
  bytesAt: BytesAt,
): Promise<void> {
  for (const { at, type, content } of filesOf(given)) {
    const path = filePath({ owner: SITE_OWNER, name: project.repo }, at)
    const bytes = bytesOf(content, bytesAt)
    const staged = await stageFile(ctx, project.id, once(bytes), { maxBytes: bytes.length })
    const contentType = typeOfFile(type, path)
    await keepFile(ctx, { projectId: project.id, path, contentType, isRegistered: true }, staged)
  }
}

/** Null if the project has the files that are expected. */
export function judgeFiles(
  lab: Lab,
  projectId: string,
  { files: count, file: expected }: RuleTest['expect'],
): string | null {
  if (count === undefined && expected === undefined) return null
  const { data, pagination } = listFiles(lab.ctx, operatorGrant(projectId), { limit: '100' })
  if (count !== undefined && pagination.total !== count)
    return `there are ${pagination.total} files, not ${count}`
  if (expected === undefined || data.some((one) => isThat(expected, one))) return null
  const found = data.map(({ path, size, contentType }) => ({ path, size, contentType }))
  return `there is no file ${JSON.stringify(expected)}: ${JSON.stringify(found).slice(0, 500)}`
}

type Found = { path: string; size: number; contentType: string }

function isThat({ path, ...expected }: NonNullable<RuleTest['expect']['file']>, found: Found): boolean {
  if (mismatch(expected, found) !== null) return false
  if (path === undefined) return true
  const pattern = path
    .split('*')
    .map((part) => RegExp.escape(part))
    .join('.*')
  return new RegExp(`^${pattern}$`, 's').test(found.path)
}
