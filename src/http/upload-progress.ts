const extenders = new WeakMap<Request, () => void>()

/**
 * Bun ends a request when its idle time has passed since it began, whatever has arrived meanwhile. The listener says
 * here how the time is begun anew; `arrivingBody` does that with each piece, so that an upload ends only when it stalls.
 */
export function onUploadProgress(request: Request, extend: () => void): void {
  extenders.set(request, extend)
}

/** The body as it comes in, each piece of which begins the idle time anew; null for none. */
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
