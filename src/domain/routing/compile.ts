import { findBasicAuth, type HeaderBlock, parseHeaders } from './headers.ts'
import type { Problem } from './parsed.ts'
import { parseRedirects, type RedirectLine, type RedirectOptions } from './redirects.ts'
import { MAX_FILE_BYTES, textOfFile } from './text-lines.ts'

const REDIRECTS_FILE = '_redirects'
const HEADERS_FILE = '_headers'

/** A problem with the path of its file in the deployment. */
export type FileProblem = { file: string } & Problem

/** As compilers write it: `_redirects:12 message`. */
export const problemLine = ({ file, line, message }: FileProblem): string => `${file}:${line} ${message}`

/** The routing files of one folder, compiled. Plain data, so that it can be stored. */
export type CompiledRouting = {
  lines: RedirectLine[]
  blocks: HeaderBlock[]
  /** How many lines and blocks were left out; `problems` has the first of them. */
  refused: number
  problems: FileProblem[]
}

/** The bytes of the files; of one that is too large, its beginning. */
export type RoutingBytes = { redirects: Uint8Array | null; headers: Uint8Array | null }

/** No more of a file needs to be read. */
export const BYTES_TO_READ = MAX_FILE_BYTES + 1

/** Whether a path of a deployment is that of a routing file, in whatever folder. */
export const isRoutingFile = (path: string): boolean => kindOf(path) !== null

/** The folder of a routing file (`''`, or such as `/dist`) and what it is; null for any other file. */
export function routingFileAt(path: string): { folder: string; kind: keyof RoutingBytes } | null {
  const kind = kindOf(path)
  if (kind === null) return null
  const slash = path.lastIndexOf('/')
  return { folder: slash < 1 ? '' : `/${path.slice(0, slash).replace(/^\//, '')}`, kind }
}

function kindOf(path: string): keyof RoutingBytes | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name === REDIRECTS_FILE) return 'redirects'
  return name === HEADERS_FILE ? 'headers' : null
}

/** Compiles the routing files of a folder. contract 13 §1. */
export function compileRouting(
  folder: string,
  { redirects, headers }: RoutingBytes,
  options: RedirectOptions = {},
): CompiledRouting {
  const ofLines = compileFile(folder, REDIRECTS_FILE, redirects, (text) => parseRedirects(text, options))
  const ofBlocks = compileFile(folder, HEADERS_FILE, headers, parseHeaders)
  return {
    lines: ofLines.parsed?.lines ?? [],
    blocks: ofBlocks.parsed?.blocks ?? [],
    refused: ofLines.refused + ofBlocks.refused,
    problems: [...ofLines.problems, ...ofBlocks.problems],
  }
}

/** The first line of a `_headers` that wants a password, even if nothing else of the file can be used; else null. */
export const passwordLineOf = (headers: Uint8Array): number | null =>
  findBasicAuth(new TextDecoder().decode(headers.subarray(0, MAX_FILE_BYTES)))

type Parsed = { refused: number; problems: Problem[] }

function compileFile<T extends Parsed>(
  folder: string,
  name: string,
  bytes: Uint8Array | null,
  parse: (text: string) => T,
): { parsed: T | null; refused: number; problems: FileProblem[] } {
  if (bytes === null) return { parsed: null, refused: 0, problems: [] }
  const file = `${folder}/${name}`.slice(1)
  const read = textOfFile(bytes)
  if (read.text === null) return { parsed: null, refused: 1, problems: [{ file, ...read.problem }] }
  const parsed = parse(read.text)
  const problems = parsed.problems.map((problem) => ({ file, ...problem }))
  return { parsed, refused: parsed.refused, problems }
}
