import { readFileSync } from 'node:fs'
import { IS_UTF16, textOf } from '../domain/text-file.ts'
import { trustedCas } from '../platform/outbound/ca.ts'
import { UsageError } from './command.ts'

/**
 * The trusted CAs for commands that call a server, if the file of `NODE_EXTRA_CA_CERTS` begins with a byte order mark: the
 * runtime, which reads it by itself, ignores such a file. Null if the runtime's own list is right. Throws a `UsageError` for
 * UTF-16.
 */
export function casOfMarkedFile(path: string | undefined): readonly string[] | null {
  const bytes = path === undefined || path === '' ? null : bytesAt(path)
  if (bytes === null) return null
  const text = textOf(bytes)
  if (text === null) throw new UsageError(`NODE_EXTRA_CA_CERTS is "${path}", which ${IS_UTF16}`)
  return bytes[0] === 0xef && bytes[1] === 0xbb ? trustedCas(text) : null
}

/** Null for a file that cannot be read: the runtime warns of it. */
function bytesAt(path: string): Uint8Array | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}
