import type { ByteRange } from '../domain/http-conditions.ts'
import { withHeaders } from './with-headers.ts'

type Part = Uint8Array<ArrayBuffer> | Blob

/**
 * Several ranges as `multipart/byteranges`. RFC 9110 §14.6. A file in memory becomes one buffer, so that its length is
 * sent; a larger one becomes a stream, which Bun sends in chunks.
 */
export function multipartRanges(
  ranges: readonly ByteRange[],
  { size, isInMemory }: { size: number; isInMemory: boolean },
  headers: Headers,
  read: (start: number, end: number) => Part,
): Response {
  const boundary = crypto.randomUUID().replaceAll('-', '')
  const type = headers.get('content-type')
  const parts = ranges.map(({ start, end }) => ({
    head: bytesOf(
      `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: bytes ${start}-${end}/${size}\r\n\r\n`,
    ),
    sizeBytes: end - start + 1,
    read: () => read(start, end),
  }))
  const tail = bytesOf(`\r\n--${boundary}--\r\n`)
  const length = parts.reduce((sum, { head, sizeBytes }) => sum + head.length + sizeBytes, tail.length)
  const body = isInMemory
    ? new Blob([...parts.flatMap(({ head, read }) => [head, read()]), tail])
    : streamOf(joined(parts, tail))
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

async function* joined(parts: readonly { head: Uint8Array; read: () => Part }[], tail: Uint8Array): Pieces {
  for (const { head, read } of parts) {
    yield head
    const part = read()
    if (part instanceof Blob) yield* part.stream()
    else yield part
  }
  yield tail
}

/** Reads only as fast as the visitor receives. */
const streamOf = (pieces: Pieces): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
