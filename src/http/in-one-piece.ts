/** From here on Bun sends every header on its own where the answer was waited for, each with a call of the system. */
const FROM_BYTES = 15 * 1024

/** Bun's own kind of stream, which the types of the DOM do not know. */
const DirectStream = ReadableStream as unknown as new (
  source: Bun.DirectUnderlyingSource<Uint8Array>,
  strategy: { highWaterMark: number },
) => ReadableStream<Uint8Array>

/**
 * The body of an answer that was waited for, so that it goes out together with its headers. Its length is said as ever.
 * Of bytes without a type Bun says that they are `application/octet-stream`, and browsers would save what they could show.
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
  // More than is written, so that nothing goes before the end: that is how Bun knows the length.
  return new DirectStream(source, { highWaterMark: bytes.length + 1 })
}
