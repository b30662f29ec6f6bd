import { readFileSync } from 'node:fs'
import {
  BYTES_TO_READ,
  type CompiledRouting,
  compileRouting,
  passwordLineOf,
  problemLine,
  type RoutingBytes,
  routingFileAt,
} from '../../domain/routing/compile.ts'
import { CommandFailure, type Io, printable } from '../command.ts'
import type { FoundFile } from './files.ts'

/** What the routing files at the top of a folder say, compiled as the server will; null if there are none. */
export function readRouting(files: readonly FoundFile[]): CompiledRouting | null {
  const bytes: RoutingBytes = { redirects: null, headers: null }
  for (const { path, absolutePath } of files) {
    const at = routingFileAt(path)
    if (at === null) continue
    const content = readFileSync(absolutePath).subarray(0, BYTES_TO_READ)
    if (at.kind === 'headers') refusePassword(path, content)
    if (at.folder === '') bytes[at.kind] = content
  }
  return bytes.redirects === null && bytes.headers === null ? null : compileRouting('', bytes)
}

export function writeProblems({ problems }: CompiledRouting, io: Io): void {
  for (const problem of problems) io.stderr.write(`${printable(problemLine(problem))}\n`)
}

/** As the answer of an upload says it. */
export const summaryOf = ({ lines, blocks, refused, problems }: CompiledRouting) => ({
  redirects: lines.length,
  headers: blocks.length,
  refused,
  problems,
})

function refusePassword(path: string, content: Uint8Array): void {
  const line = passwordLineOf(content)
  if (line === null) return
  throw new CommandFailure(
    `${path}:${line} asks for a password (Basic-Auth), which would be refused: take the line out, and make the project or the alias private instead`,
  )
}
