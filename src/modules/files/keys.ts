import type { Context } from '../../context.ts'
import { encodePath } from '../../domain/asset-path.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { toNfc } from '../../domain/nfc.ts'

/** The names of files: keys, paths below `uploads/`, addresses. contract 14.2. */

type Project = { owner: string; name: string }

/** Of a whole key. */
const MAX_KEY_BYTES = 1024
const MAX_NAME = 150

/** Segments of folders and files, joined, in their normal form. Throws `INVALID_PATH`. */
export function filePath(project: Project, ...segments: readonly string[]): string {
  const path = segments.map(normalSegments).join('/')
  if (Buffer.byteLength(fileKey(project, path)) > MAX_KEY_BYTES)
    throw invalidPath(`a key has at most ${MAX_KEY_BYTES} bytes`)
  return path
}

/** As outside of this service: `owner/repo/uploads/path`. */
export const fileKey = (project: Project, path: string): string => `${folderOf(project)}${path}`

/** The address that a rule may serve. */
export const fileUrl = (path: string): string => `/api/uploads/${encodePath(path)}`

/** The path of a key of this project; null for any other text. */
export function pathOfKey(project: Project, key: string): string | null {
  const folder = folderOf(project)
  if (!key.startsWith(folder)) return null
  try {
    const rest = key.slice(folder.length)
    return filePath(project, rest) === rest ? rest : null
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** The original name of a file, as a part of its path. */
export function cleanName(original: string): string {
  const clean = original.replaceAll(/[^A-Za-z0-9._-]/gu, '_').slice(-MAX_NAME)
  return clean === '' ? 'file' : clean
}

/** The name of a file for people: the last segment, without the id of a new path. */
export const downloadName = (path: string): string =>
  path.slice(path.lastIndexOf('/') + 1).replace(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-(?=.)/, '')

type NewFile = { subDir: string; originalName: string; dateBucket: boolean }

/** A path that no file has; `filename` is the clean name without the id. */
export function newFilePath(
  { now }: Pick<Context, 'now'>,
  project: Project,
  { subDir, originalName, dateBucket }: NewFile,
): { path: string; filename: string } {
  const filename = cleanName(originalName)
  const date = dateBucket ? [isoTime(now()).slice(0, 10)] : []
  const path = filePath(project, subDir, ...date, `${crypto.randomUUID()}-${filename}`)
  return { path, filename }
}

const folderOf = ({ owner, name }: Project): string => `${owner}/${name}/uploads/`

function normalSegments(text: string): string {
  const path = toNfc(text).replaceAll(/^[ /]+|[ /]+$/g, '')
  const flaw = flawOf(path)
  if (flaw !== null) throw invalidPath(flaw)
  return path
}

function flawOf(path: string): string | null {
  if (path === '') return 'it must not be empty'
  if (/\p{Cc}/u.test(path) || !path.isWellFormed()) return 'it must not have control characters'
  if (path.includes('\\')) return 'folders are separated by /, not by \\'
  const isBad = (segment: string) => segment === '' || segment === '.' || segment === '..'
  return path.split('/').some(isBad) ? 'none of its segments may be empty, . or ..' : null
}

const invalidPath = (flaw: string): AppError =>
  new AppError('invalid', `This is no path of a file: ${flaw}`, { code: 'INVALID_PATH' })
