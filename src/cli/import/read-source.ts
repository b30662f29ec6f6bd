import { importRoutes, importWrangler } from './cloudflare.ts'
import { importFirebase } from './firebase.ts'
import { type JsonOptions, parseJson } from './json-tree.ts'
import { type Located, type LocatedObject, SourceError } from './located.ts'
import { importNetlify } from './netlify.ts'
import { Outcome } from './outcome.ts'
import { parseToml } from './toml-tree.ts'
import { importVercel } from './vercel.ts'

export const MAX_SOURCE_BYTES = 1024 * 1024

type Kind = { parse: (text: string) => Located; take: (root: LocatedObject, out: Outcome) => void }

const json = (options: JsonOptions) => (text: string) => parseJson(text, options)
const strict = json({ comments: false, trailingCommas: false })
const withComments = json({ comments: true, trailingCommas: false })
const lenient = json({ comments: true, trailingCommas: true })

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['netlify.toml', { parse: parseToml, take: importNetlify }],
  ['vercel.json', { parse: strict, take: importVercel }],
  ['firebase.json', { parse: withComments, take: importFirebase }],
  ['wrangler.toml', { parse: parseToml, take: importWrangler }],
  ['wrangler.json', { parse: lenient, take: importWrangler }],
  ['wrangler.jsonc', { parse: lenient, take: importWrangler }],
  ['_routes.json', { parse: strict, take: importRoutes }],
])

/** The names of files that can be imported. */
export const SOURCE_NAMES: readonly string[] = [...KINDS.keys()]

/** What the file of that name becomes. Throws `SourceError` if it cannot be read. */
export function readSource(name: string, bytes: Uint8Array): Outcome {
  const kind = KINDS.get(name)
  if (kind === undefined) throw new Error(`${name} is no kind of file that can be imported`)
  const text = decoded(bytes)
  const root = kind.parse(text)
  if (root.kind !== 'object') throw new SourceError('the file must hold an object', root)
  const out = new Outcome()
  kind.take(root, out)
  return out
}

const START = { line: 1, column: 1 }

function decoded(bytes: Uint8Array): string {
  if (bytes.length > MAX_SOURCE_BYTES) throw new SourceError('the file has more than 1 MiB', START)
  const text = textFrom(bytes)
  if (text.trim() === '') throw new SourceError('the file is empty', START)
  return text
}

function textFrom(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new SourceError('the file is not UTF-8', START)
  }
}
