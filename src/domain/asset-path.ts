/** Where a path came from: a form and a manifest may begin it with `/`, an archive may not. */
export type AssetPathSource = 'form' | 'manifest' | 'archive'

/** `reason` completes "<entry>: ..." and says what to change. */
type AssetPathResult =
  /** `path` is what is stored: `/` between segments, none in front, NFC. */
  | { readonly kind: 'file'; readonly path: string }
  /** A dot file, `node_modules` or `__MACOSX`: passed over in silence. */
  | { readonly kind: 'left_out' }
  /** It ends in `/`: nothing to store. */
  | { readonly kind: 'directory' }
  | { readonly kind: 'refused'; readonly reason: string }

const LEFT_OUT: AssetPathResult = { kind: 'left_out' }
const DIRECTORY: AssetPathResult = { kind: 'directory' }
/** Of the whole path; no folder of a deployment is longer either. */
export const MAX_PATH_BYTES = 1024
const MAX_SEGMENT_BYTES = 255

/** What most paths are: ASCII letters and digits, no segment that begins with a dot. They need no closer look. */
const PLAIN = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/
const LEFT_OUT_NAME = /node_modules|__MACOSX/

/** Reads the path of an uploaded file or archive entry. contract §5: paths. */
export function normalizeAssetPath(raw: string, source: AssetPathSource): AssetPathResult {
  if (raw.length <= MAX_SEGMENT_BYTES && PLAIN.test(raw) && !LEFT_OUT_NAME.test(raw))
    return { kind: 'file', path: raw }
  if (raw === '') return refused('the path is empty')
  const path = raw.normalize('NFC').replaceAll('\\', '/')
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
 * The first path that would have to be a file and a folder at once, with a path below it; null when there is
 * none. Each folder is looked at once, however many files it holds.
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

/**
 * The stored path that the path of a URL asks for: without the `/` in front, percent-decoded once, NFC; a `/`
 * at the end stays, and the root is the empty string. Null: no file can have such a path (bad encoding, an
 * encoded `/`, NUL, a `..` segment).
 */
export function requestPathToAssetPath(urlPath: string): string | null {
  const raw = urlPath.charCodeAt(0) === 0x2f ? urlPath.slice(1) : urlPath
  const path = raw.includes('%') ? decodeOnce(raw) : raw
  if (path === null || path.includes('\0')) return null
  if (path.includes('..') && path.split('/').includes('..')) return null
  return isAscii(path) ? path : path.normalize('NFC')
}

/** A path as an address writes it: each segment percent-encoded. */
export const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** What nobody uploads by accident. It is refused even below a folder that is left out. */
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

/** Counts bytes of UTF-8, and only where the length leaves a doubt: a code unit takes 3 at most. */
function isLongerThan(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}

/** Null also for an encoded `/`: it would name another file than the one that the URL seems to name. */
function decodeOnce(raw: string): string | null {
  if (/%2f/i.test(raw)) return null
  try {
    return decodeURIComponent(raw)
  } catch {
    return null
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

function refused(reason: string): AssetPathResult {
  return { kind: 'refused', reason }
}
