/** From this size, Bun sends each header of an async response separately, with one system call each. */
const FROM_BYTES = 15 * 1024

/** Bun's own kind of stream, which the DOM types do not include. */
const DirectStream = ReadableStream as unknown as new (
  source: Bun.DirectUnderlyingSource<Uint8Array>,
  strategy: { highWaterMark: number },
) => ReadableStream<Uint8Array>

/**
 * The body of an async response, sent together with its headers and with a content length. Bun labels untyped bytes as
 * `application/octet-stream`, and browsers would then save what they could show.
 */
export function inOnePiece(bytes: Uint8Array, isTyped: boolean): BodyInit {
  if (isTyped && bytes.length < FROM_BYTES) return bytes as BodyInit
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    pull(controller) {
      controller.write(bytes as Bun.BufferSource)
      controller.end()
    },
  }
  // Larger than what is written, so that nothing is sent before the end: only then does Bun know the length.
  return new DirectStream(source, { highWaterMark: bytes.length + 1 })
}
