import type { ByteRange } from '../domain/http-conditions.ts'
import { streamOf } from '../http/stream-of.ts'
import type { Kept } from './body-cache.ts'
import { withHeaders } from './with-headers.ts'

/** `read` for a file in memory, else the parts as they are read. */
type Source =
  | { read: (start: number, end: number) => Kept }
  | { stream: (start: number, end: number) => Pieces }

/**
 * Several ranges as `multipart/byteranges`. RFC 9110 §14.6. A file in memory becomes one buffer, so that its length is
 * sent; a larger one becomes a stream, which Bun sends in chunks.
 */
export function multipartRanges(
  ranges: readonly ByteRange[],
  size: number,
  headers: Headers,
  source: Source,
): Response {
  const boundary = crypto.randomUUID().replaceAll('-', '')
  const type = headers.get('content-type')
  const parts = ranges.map(({ start, end }) => ({
    start,
    end,
    head: bytesOf(
      `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: bytes ${start}-${end}/${size}\r\n\r\n`,
    ),
  }))
  const tail = bytesOf(`\r\n--${boundary}--\r\n`)
  const length = parts.reduce((sum, { head, start, end }) => sum + head.length + end - start + 1, tail.length)
  const body =
    'read' in source
      ? new Blob([...parts.flatMap(({ head, start, end }) => [head, source.read(start, end)]), tail])
      : streamOf(joined(parts, tail, source.stream))
  return new Response(body, {
    status: 206,
    headers: withHeaders(headers, {
      'content-type': `multipart/byteranges; boundary=${boundary}`,
      'content-length': String(length),
    }),
  })
}

const encoder = new TextEncoder()
const bytesOf = (text: string) => encoder.encode(text)

type Pieces = AsyncGenerator<Uint8Array, void, undefined>

async function* joined(
  parts: readonly (ByteRange & { head: Uint8Array })[],
  tail: Uint8Array,
  stream: (start: number, end: number) => Pieces,
): Pieces {
  for (const { head, start, end } of parts) {
    yield head
    yield* stream(start, end)
  }
  yield tail
}
