const extenders = new WeakMap<Request, () => void>()

/**
 * Bun ends a request when the idle timeout has passed since its start, even if data is arriving. The listener registers
 * how to restart the timeout; `arrivingBody` calls it for each chunk, so that only a stalled upload ends.
 */
export function onUploadProgress(request: Request, extend: () => void): void {
  extenders.set(request, extend)
}

/** Yields the body as it arrives; each chunk restarts the idle timeout. Null if there is none. */
export function arrivingBody(request: Request): AsyncIterable<Uint8Array> | null {
  const { body } = request
  const extend = extenders.get(request)
  return body === null || extend === undefined ? body : extending(body, extend)
}

async function* extending(body: AsyncIterable<Uint8Array>, extend: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    extend()
    yield chunk
  }
}
