import type { ByteRange } from '../domain/http-conditions.ts'
import { withHeaders } from './with-headers.ts'

type Part = Uint8Array<ArrayBuffer> | Blob

/** Several ranges as `multipart/byteranges`, streamed. RFC 9110 §14.6. */
export function multipartRanges(
  ranges: readonly ByteRange[],
  size: number,
  headers: Headers,
  read: (start: number, end: number) => Part,
): Response {
  const boundary = crypto.randomUUID().replaceAll('-', '')
  const encode = new TextEncoder()
  const heads = ranges.map(({ start, end }) =>
    encode.encode(
      `\r\n--${boundary}\r\nContent-Type: ${headers.get('content-type')}\r\nContent-Range: bytes ${start}-${end}/${size}\r\n\r\n`,
    ),
  )
  const tail = encode.encode(`\r\n--${boundary}--\r\n`)
  const length = ranges.reduce(
    (sum, { start, end }, i) => sum + (heads[i]?.length ?? 0) + end - start + 1,
    tail.length,
  )

  async function* parts(): AsyncGenerator<Uint8Array, void, undefined> {
    for (const [i, { start, end }] of ranges.entries()) {
      yield heads[i] ?? new Uint8Array()
      const part = read(start, end)
      if (part instanceof Blob) yield* part.stream()
      else yield part
    }
    yield tail
  }
  const iterator = parts()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return(undefined)
    },
  })
  return new Response(body, {
    status: 206,
    headers: withHeaders(headers, {
      'content-type': `multipart/byteranges; boundary=${boundary}`,
      'content-length': String(length),
    }),
  })
}
