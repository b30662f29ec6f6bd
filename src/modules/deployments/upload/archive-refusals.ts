import type { Context } from '../../../context.ts'
import { AppError } from '../../../domain/errors.ts'
import type { FoundFormat } from '../../../platform/archive/format.ts'
import { shown } from './files.ts'

/** What is said to senders of archives that are not read where they came, with what to send. contract 12.9. */

const HOW_TO_PACK = 'send a zip, a tar or a tar.gz, such as tar cz -C dist . makes'

/** For a compressed format that is not read; nothing happens for others. */
export function refuseNamed(format: FoundFormat, what: string): void {
  if (format !== undefined && 'named' in format)
    throw new AppError('invalid', `${what} is ${format.named}, which is not read: ${HOW_TO_PACK}`)
}

export const emptyBody = (): AppError =>
  new AppError('invalid', `The request has no body: ${HOW_TO_PACK}, with the fields in the query string`)

export const noArchive = (): AppError =>
  new AppError(
    'invalid',
    `The request body is neither a zip nor a tar nor gzip: ${HOW_TO_PACK}, or files as multipart/form-data`,
  )

export const noTarInside = (inside: FoundFormat): AppError =>
  new AppError('invalid', `What the gzip data holds is no tar archive${insteadOf(inside)}: ${HOW_TO_PACK}`)

function insteadOf(format: FoundFormat): string {
  if (format === undefined) return ''
  return `, but ${'reads' in format ? format.reads : format.named}`
}

/** For a tar, packed or not, in the form that takes a zip. */
export const tarAsZip = (ctx: Context, format: 'tar' | 'gzip'): AppError =>
  new AppError(
    'invalid',
    `This form takes a zip, and the file is ${format === 'tar' ? 'a tar archive' : 'gzip, as a tar.gz is'}: send it as the raw body of a request, ${asBody(ctx)}`,
  )

/** For a form of files whose only file is an archive. */
export const archiveAsFile = (ctx: Context, path: string): AppError =>
  new AppError(
    'invalid',
    `${shown(path)} is an archive, and a form of files publishes files as they are. To publish what is in it, send it as the raw body of a request, ${asBody(ctx)}; or a zip as a form, curl -F file=@FILE -F repository=OWNER/REPO -F commitSha=SHA -H "X-API-Key: $KEY" ${ctx.adminUrl()}/api/deployments/zip. To publish the archive itself, add asFiles=true.`,
    { code: 'ARCHIVE_AS_FILE' },
  )

const asBody = (ctx: Context): string =>
  `curl --data-binary @FILE -H "Content-Type: application/octet-stream" -H "X-API-Key: $KEY" "${ctx.adminUrl()}/api/deployments?owner=OWNER&repo=REPO&commitSha=SHA"`
