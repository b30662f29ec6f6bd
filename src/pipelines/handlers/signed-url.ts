import { AppError } from '../../domain/errors.ts'
import { originOf } from '../../http/arrival.ts'
import { filePath, fileUrl, pathOfKey } from '../../modules/files/keys.ts'
import { fileToken } from '../../modules/files/tokens.ts'
import { DEFAULT_URL_SECONDS, MAX_URL_SECONDS } from '../language/handlers/signed-url.ts'
import type { Runner } from '../runner.ts'
import { optionalText, wholeNumber } from './config.ts'
import { decodedPath, pathText, projectOf } from './file-config.ts'

const MAX_NAME = 200

export const signedUrlRunner: Runner = {
  run(step, config) {
    const { ctx, input } = step
    const { arrival } = input
    // The admin's host serves it, too, for runs that nobody asked for.
    const origin = arrival === undefined ? (input.origin ?? ctx.adminUrl()) : originOf(arrival)
    const project = projectOf(step)
    const path = namedPath(project, pathText(config, 'path'))
    const seconds = Math.min(wholeNumber(config, 'expiresIn', DEFAULT_URL_SECONDS, 1), MAX_URL_SECONDS)
    const filename = downloadName(optionalText(config, 'filename') ?? '')
    const endsAt = ctx.now() + seconds * 1000
    const token = fileToken(ctx, { projectId: project.id, path, endsAt, filename })
    const shown = encodeURIComponent((filename ?? path.slice(path.lastIndexOf('/') + 1)).toWellFormed())
    return { url: `${origin}/_svc/files/${shown}?token=${token}` }
  },
}

/** By its key or its address. */
function namedPath(project: { owner: string; name: string }, given: string): string {
  const start = fileUrl('')
  const below = given.startsWith(start) ? decodedPath(given.slice(start.length)) : null
  const path = below === null ? pathOfKey(project, given) : filePath(project, below)
  if (path === null)
    throw new AppError('invalid', 'path is no file of this project: use its storage_path, or its url', {
      code: 'INVALID_PATH',
    })
  return path
}

/** What is left of a name, without folders and what no header or file system takes; null if nothing is. */
function downloadName(given: string): string | null {
  const last = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1)
  const name = [...last.replaceAll(/[\p{Cc}"\\]/gu, '').trim()].slice(0, MAX_NAME).join('')
  return name === '' ? null : name
}
