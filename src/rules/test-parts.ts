import { isRecord } from '../domain/is-record.ts'
import type { Check } from './checks.ts'

/** What a file of a test holds: a text, or the bytes of the file at `path`, seen from the test. */
export type TestContent = { text: string } | { path: string }
export type TestFile = { type: string | null; content: TestContent }
/** A part of `request.multipart`. */
export type TestPart = { name: string } & ({ value: string } | (TestFile & { filename: string }))

const CONTENT_KEYS = ['type', 'text', 'path']

/** `{ caption: Fog, file: { filename: a.png, type: image/png, text: … } }`; a list for a name that comes more than once. */
export const multipart: Check = (value) => {
  if (!isRecord(value)) return 'must be a map of names to parts'
  for (const [name, given] of Object.entries(value))
    for (const one of [given].flat()) {
      const wrong = isRecord(one) ? flawOf(one, ['filename', ...CONTENT_KEYS]) : isScalar(one) ? null : PART
      if (wrong !== null) return `must be a map of names to parts, but ${JSON.stringify(name)} ${wrong}`
    }
  return null
}

/** `{ photos/a.png: { type: image/png, text: … } }`: files that exist before the request. */
export const storedFiles: Check = (value) => {
  if (!isRecord(value)) return 'must be a map of paths to files'
  for (const [path, given] of Object.entries(value)) {
    const wrong = isScalar(given) ? null : isRecord(given) ? flawOf(given, CONTENT_KEYS) : PART
    if (wrong !== null) return `must be a map of paths to files, but ${JSON.stringify(path)} ${wrong}`
  }
  return null
}

const PART = 'is neither a text nor a map'

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)

function flawOf(file: Record<string, unknown>, known: readonly string[]): string | null {
  const [strange] = Object.keys(file).filter((key) => !known.includes(key))
  if (strange !== undefined) return `has the key ${strange}; allowed: ${known.join(', ')}`
  const [wrong] = Object.entries(file).filter(([, one]) => !isScalar(one))
  if (wrong !== undefined) return `has a ${wrong[0]} that is no text`
  return 'text' in file === 'path' in file ? 'needs either text or path' : null
}

/** The parts of a value that `multipart` lets pass. */
export const partsOf = (given: Record<string, unknown>): TestPart[] =>
  Object.entries(given).flatMap(([name, value]) => [value].flat().map((one) => partOf(name, one)))

function partOf(name: string, value: unknown): TestPart {
  if (!isRecord(value)) return { name, value: String(value) }
  const file = fileOf(value)
  const ofPath =
    'path' in file.content ? file.content.path.slice(file.content.path.lastIndexOf('/') + 1) : name
  return { name, filename: String(value['filename'] ?? ofPath), ...file }
}

/** The files of a value that `storedFiles` lets pass. */
export const filesOf = (given: Record<string, unknown>): ({ at: string } & TestFile)[] =>
  Object.entries(given).map(([at, value]) => ({
    at,
    ...fileOf(isRecord(value) ? value : { text: String(value) }),
  }))

const fileOf = (given: Record<string, unknown>): TestFile => ({
  type: given['type'] === undefined ? null : String(given['type']),
  content: 'path' in given ? { path: String(given['path']) } : { text: String(given['text']) },
})
