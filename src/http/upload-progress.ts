import { AppError } from '../domain/errors.ts'
import { nextTurn } from '../platform/next-turn.ts'
import type { Peer } from './arrival.ts'
import { refuseCoded } from './coded-body.ts'

const TRAILER_MS = 2
const NO_TRAILERS =
  'Trailer fields behind a body are not taken. Send the body without, and without the field Trailer.'

const peers = new WeakMap<Request, Peer>()

/**
 * Bun ends a request when the idle timeout has passed since its start, even if data is arriving. The listener registers
 * who can restart the timeout; `arrivingBody` does it for each chunk, so that only a stalled upload ends.
 */
export function onUploadProgress(request: Request, peer: Peer): void {
  peers.set(request, peer)
}

/** Lets the connection be silent for as long as somebody else watches it. */
export function allowSilence(request: Request, isAllowed: boolean): void {
  peers.get(request)?.allowSilence?.(isAllowed)
}

/**
 * Yields a body that nobody holds, as it arrives; each chunk restarts the idle timeout. Null if there is none. Throws
 * 415 for a coded one. Its end is that of `connectionHolds`.
 */
export function arrivingBody(request: Request): AsyncIterable<Uint8Array> | null {
  refuseCoded(request)
  const { body } = request
  return body === null ? null : extending(body, request)
}

async function* extending(body: AsyncIterable<Uint8Array>, request: Request): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    allowSilence(request, false)
    yield chunk
  }
  await connectionHolds(request)
}

/**
 * Waits until the runtime has looked at what follows the body. It reports the end of a body first, and finds a trailer,
 * or more bytes than were stated, while it goes on in the same turn of the event loop: then it answers 400 and aborts
 * the request. So nothing may be changed before this. Throws if the connection has failed. contract 12.6.
 *
 * The end of a chunked body is reported before the line behind it: a trailer may come right after in a packet of its own.
 */
export async function connectionHolds(request: Request): Promise<void> {
  if (request.headers.has('transfer-encoding')) await chunksHold(request)
  await nextTurn()
  if (request.signal.aborted) throw cutOff()
}

/**
 * A trailer may come right behind, or whenever its sender has it: one that is announced is not waited for. A server that
 * was held up wakes before it has looked at what arrived meanwhile: that takes a turn of its own.
 */
async function chunksHold(request: Request): Promise<void> {
  if (request.headers.has('trailer')) throw new AppError('invalid', NO_TRAILERS)
  await Bun.sleep(TRAILER_MS)
  await nextTurn()
}

export const cutOff = (cause?: unknown): AppError =>
  new AppError('invalid', 'The request body ended too early', { cause })
