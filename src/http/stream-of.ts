type Pieces = AsyncGenerator<Uint8Array, void, undefined>

/** Reads only as fast as the visitor receives. */
export const streamOf = (pieces: Pieces): ReadableStream<Uint8Array> =>
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

export const streamOfTexts = (texts: AsyncGenerator<string>): ReadableStream<Uint8Array> =>
  streamOf(encoded(texts))

async function* encoded(texts: AsyncGenerator<string>): Pieces {
  const encoder = new TextEncoder()
  for await (const text of texts) yield encoder.encode(text)
}
