import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { networkOf } from '../domain/ip-ranges.ts'
import { ByteCollector, type ByteStream, free } from '../platform/byte-stream.ts'
import { BodyShare } from './body-share.ts'
import { refuseCoded } from './coded-body.ts'
import { Pace } from './pace.ts'
import { requestState } from './request-facts.ts'
import { allowSilence, connectionHolds, cutOff } from './upload-progress.ts'

/** A body of at most this length has one span to arrive in, so it need not be watched piece by piece. */
const AT_ONCE_BYTES = 10 * 1024
/** Smaller pieces are copied together, because each costs more than its bytes. */
const LARGE_PIECE_BYTES = 16 * 1024
const MAX_SKIPPED_BYTES = 1024 * 1024

/**
 * Reads the whole body into memory, of which it has a share until the request is answered. Throws `too_large` as soon as
 * it exceeds `maxBytes`, `unavailable` if there is no room for it, `timed_out` if it comes too slowly. contract 12.6.
 */
export async function readBody(ctx: Context, request: Request, maxBytes: number): Promise<Uint8Array> {
  refuseCoded(request)
  const stated = statedBytes(request)
  if (stated !== null && stated > maxBytes) throw tooLarge(maxBytes)
  if (stated !== null && stated <= AT_ONCE_BYTES) return stated === 0 ? NOTHING : readAtOnce(ctx, request)
  const body = heldBody(ctx, request)
  return body === null ? NOTHING : gather(body, maxBytes)
}

/**
 * Yields a body that is held, as it arrives: for a form, which is read while it comes. Null if there is none. Throws as
 * `readBody` does, but for `too_large`.
 */
export function heldBody(ctx: Context, request: Request): ByteStream | null {
  refuseCoded(request)
  if (request.body === null) return null
  const state = requestState(request)
  const share = new BodyShare(ctx.bodies, networkOf(state.facts.ip), statedBytes(request))
  state.share = share
  return inTime(ctx, request, request.body, (bytes) => share.take(bytes))
}

/**
 * Yields a part of a held body that goes to the disk: a piece is held no more once the next one is asked for, and the body
 * only has a share for what is.
 */
export async function* passingOn(
  request: Request,
  part: ByteStream | Uint8Array,
): AsyncGenerator<Uint8Array> {
  const { share } = requestState(request)
  for await (const piece of part instanceof Uint8Array ? [part] : part) {
    const { length } = piece
    yield piece
    free(piece)
    share?.passOn(length)
  }
}

/**
 * For a route that changes something and reads no body: waits for the end of a chunked one, which may turn out to be
 * broken.
 */
export async function skipBody(ctx: Context, request: Request): Promise<void> {
  if (!request.headers.has('transfer-encoding')) return
  if (request.body === null) return connectionHolds(request)
  let size = 0
  for await (const piece of inTime(ctx, request, request.body, () => {})) {
    size += piece.length
    if (size > MAX_SKIPPED_BYTES) throw tooLarge(MAX_SKIPPED_BYTES)
  }
}

const NOTHING = new Uint8Array()

function statedBytes(request: Request): number | null {
  const length = request.headers.get('content-length')
  return length === null ? null : Number(length)
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('too_large', `The body is larger than the ${maxBytes} bytes allowed here`)

/** Costs a third of a stream. Usually all of it has arrived by the next turn. */
async function readAtOnce(ctx: Context, request: Request): Promise<Uint8Array> {
  let ended: Uint8Array | AppError | undefined
  const reading = request.bytes().then(
    (bytes) => {
      ended = bytes
    },
    (error) => {
      ended = cutOff(error)
    },
  )
  await connectionHolds(request)
  if (ended === undefined) {
    await arrivesInTime(ctx, request, reading)
    await connectionHolds(request)
  }
  if (ended instanceof Uint8Array) return ended
  throw ended ?? cutOff()
}

async function arrivesInTime(ctx: Context, request: Request, reading: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>()
  const pace = paceOf(ctx, request, () => late.reject(tooSlow(ctx)))
  try {
    await Promise.race([reading, late.promise])
  } finally {
    endPace(pace, request)
  }
}

async function* inTime(
  ctx: Context,
  request: Request,
  body: ReadableStream<Uint8Array>,
  onPiece: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const pace = paceOf(ctx, request, () => void reader.cancel().catch(() => {}))
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw cutOff(error)
      })
      if (pace.isLate) throw tooSlow(ctx)
      if (done) break
      pace.arrived(value.length)
      freeingIfRefused(value, onPiece)
      yield value
    }
  } finally {
    endPace(pace, request)
    void discardRest(reader)
  }
  await connectionHolds(request)
}

function freeingIfRefused(piece: Uint8Array, onPiece: (bytes: number) => void): void {
  try {
    onPiece(piece.length)
  } catch (error) {
    free(piece)
    throw error
  }
}

/** Frees what still arrives of a refused body: of a hundred at once the garbage collector would let it accumulate. */
async function discardRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) free(next.value)
  } catch {
    // The connection has ended.
  }
}

/** The pace takes the place of the idle timeout, which may be shorter. */
function paceOf(ctx: Context, request: Request, onLate: () => void): Pace {
  allowSilence(request, true)
  return new Pace(ctx.config.bodyStallSeconds * 1000, onLate)
}

function endPace(pace: Pace, request: Request): void {
  pace.stop()
  allowSilence(request, false)
}

function tooSlow(ctx: Context): AppError {
  ctx.bodies.refusals.pace += 1
  return new AppError('timed_out', 'The request body arrived too slowly. Send it again.', {
    headers: { connection: 'close' },
  })
}

/** Frees what it leaves: a thousand bodies that are refused at once must not wait for the garbage collector. */
async function gather(body: ByteStream, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let small = new ByteCollector()
  let size = 0
  const endSmall = () => {
    if (small.sizeBytes > 0) pieces.push(small.bytes())
    small = new ByteCollector()
  }
  try {
    for await (const piece of body) {
      size += piece.length
      if (piece.length >= LARGE_PIECE_BYTES) {
        endSmall()
        pieces.push(piece)
      } else {
        small.push(piece)
        free(piece)
        if (small.sizeBytes >= LARGE_PIECE_BYTES) endSmall()
      }
      if (size > maxBytes) throw tooLarge(maxBytes)
    }
    endSmall()
    return pieces.length === 1 && pieces[0] !== undefined ? (pieces.pop() ?? NOTHING) : Buffer.concat(pieces)
  } finally {
    for (const piece of pieces) free(piece)
  }
}
