import { inOnePiece } from './in-one-piece.ts'

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

type Relaying = {
  silence: Silence
  /** Told when the body broke off, and not because the visitor left. */
  broken: (error: unknown) => void
}

/** The answer of another server with those headers, as it comes. */
export function relayed(
  method: string,
  { status, body }: { status: number; body: ReadableStream<Uint8Array> | Uint8Array | null },
  headers: Headers,
  relaying: Relaying,
): Response {
  const init = { status, headers }
  if (body instanceof ReadableStream) return new Response(cutWhenBroken(body, relaying), init)
  relaying.silence.end()
  const hasBody = body !== null && method !== 'HEAD' && !BODILESS.has(status)
  return new Response(hasBody ? inOnePiece(body, headers.has('content-type')) : null, init)
}

/** Without a length Bun sends 0, which would claim that GET has no content. RFC 9112 §6.1 allows this instead. */
export function headersOfHead(headers: Headers): Headers {
  if (!headers.has('content-length')) headers.set('transfer-encoding', 'chunked')
  return headers
}

/**
 * Allows the visitor's connection to be silent while a response lasts; most are done before it matters. This is revoked
 * when the response ends, because the connection may be reused.
 */
export class Silence {
  readonly #allow: ((isAllowed: boolean) => void) | undefined
  #isAllowed = false

  constructor(allow: ((isAllowed: boolean) => void) | undefined) {
    this.#allow = allow
  }

  begin(): void {
    if (!this.#isAllowed) this.#allow?.(true)
    this.#isAllowed = true
  }

  /** The visitor's connection is no longer ours. */
  end(): void {
    if (this.#isAllowed) this.#allow?.(false)
    this.#isAllowed = false
  }
}

/**
 * Passes the bytes on. If they break off, the visitor's connection is cut too, so that no partial response looks
 * complete. Bun prints the error of a body unless it is undefined, and the log already has it.
 */
function cutWhenBroken(
  body: ReadableStream<Uint8Array>,
  { silence, broken }: Relaying,
): ReadableStream<Uint8Array> {
  silence.begin()
  const reader = body.getReader()
  let isLeft = false
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        silence.end()
        controller.close()
      } catch (error) {
        // The visitor left, so this is not the backend's fault.
        if (isLeft) return
        broken(error)
        controller.error(undefined)
      }
    },
    cancel(reason) {
      isLeft = true
      return reader.cancel(reason)
    },
  })
}
