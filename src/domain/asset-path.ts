import { toNfc } from './nfc.ts'

/** Who wrote a path. A sender (in a form or manifest) may start it with `/`, an archive may not. */
export type AssetPathSource = 'sender' | 'archive'

/** `reason` completes "<entry>: ..." and says what to change. */
type AssetPathResult =
  /** `path` is the stored form: `/` between segments, no leading `/`, NFC. */
  | { readonly kind: 'file'; readonly path: string }
  /** A dot file, `node_modules` or `__MACOSX`: skipped silently. */
  | { readonly kind: 'left_out' }
  /** The path ends in `/`: there is nothing to store. */
  | { readonly kind: 'directory' }
  | { readonly kind: 'refused'; readonly reason: string }

const LEFT_OUT: AssetPathResult = { kind: 'left_out' }
const DIRECTORY: AssetPathResult = { kind: 'directory' }
/** Applies to the whole path, and to each folder of a deployment. */
export const MAX_PATH_BYTES = 1024
const MAX_SEGMENT_BYTES = 255

/** The common case: ASCII letters and digits, no segment starting with a dot. Such paths need no further checks. */
const PLAIN = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/
const LEFT_OUT_NAME = /node_modules|__MACOSX/

/** Reads the path of an uploaded file or archive entry. contract §5: paths. */
export function normalizeAssetPath(raw: string, source: AssetPathSource): AssetPathResult {
  if (raw.length <= MAX_SEGMENT_BYTES && PLAIN.test(raw) && !LEFT_OUT_NAME.test(raw))
    return { kind: 'file', path: raw }
  if (raw === '') return refused('the path is empty')
  const path = toNfc(raw).replaceAll('\\', '/')
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')

  const danger = findDanger(path, segments, source)
  if (danger !== null) return refused(danger)
  if (segments.some(isLeftOut)) return LEFT_OUT
  if (path.endsWith('/') || path.endsWith('/.') || segments.length === 0) return DIRECTORY

  const clean = segments.join('/')
  const flaw = findFlaw(clean, segments)
  return flaw === null ? { kind: 'file', path: clean } : refused(flaw)
}

/**
 * Returns the first path that would have to be both a file and a folder, with a path below it; null if there is none.
 * Each folder is checked once, however many files it contains.
 */
export function findClash(paths: Iterable<string>): { path: string; below: string } | null {
  const files = new Set(paths)
  const folders = new Set<string>()
  for (const file of files) {
    for (let slash = file.lastIndexOf('/'); slash > 0; slash = file.lastIndexOf('/', slash - 1)) {
      const folder = file.slice(0, slash)
      if (folders.has(folder)) break
      if (files.has(folder)) return { path: folder, below: file }
      folders.add(folder)
    }
  }
  return null
}

/** Percent-encodes each segment of a path for use in a URL. */
export const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** Finds what nobody uploads by accident. It is rejected even inside a folder that is skipped. */
function findDanger(path: string, segments: string[], source: AssetPathSource): string | null {
  if (path.includes('\0')) return 'a path must not contain NUL'
  if (segments.includes('..')) return 'a path must not contain ..'
  if (/^[A-Za-z]:/.test(segments[0] ?? '')) return 'a path must not begin with a drive letter'
  if (source === 'archive' && path.startsWith('/')) return 'a path in an archive must not begin with /'
  return null
}

function isLeftOut(segment: string): boolean {
  if (segment.startsWith('.')) return segment !== '.well-known'
  return segment === 'node_modules' || segment === '__MACOSX'
}

function findFlaw(path: string, segments: string[]): string | null {
  if (/\p{Cc}/u.test(path)) return 'a path must not contain control characters'
  if (!path.isWellFormed()) return 'a path must be valid Unicode'
  if (isLongerThan(path, MAX_PATH_BYTES)) return `a path must not be longer than ${MAX_PATH_BYTES} bytes`
  if (segments.some((segment) => isLongerThan(segment, MAX_SEGMENT_BYTES)))
    return `a name in a path must not be longer than ${MAX_SEGMENT_BYTES} bytes`
  return null
}

/** Counts UTF-8 bytes only when the length leaves doubt: a code unit takes at most 3 bytes. */
function isLongerThan(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}

function refused(reason: string): AssetPathResult {
  return { kind: 'refused', reason }
}
