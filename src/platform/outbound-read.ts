import type { HeaderPair } from '../domain/forward-headers.ts'
import type { Outbound, OutboundResponse } from './outbound.ts'
import { OutboundError } from './outbound-error.ts'

export type JsonRequest = {
  method?: string
  headers?: readonly HeaderPair[]
  body?: Uint8Array | null
  /** For the whole exchange, body included. */
  timeoutMs: number
  /** Of the answer's body. */
  maxBytes: number
  signal?: AbortSignal | null
}

export type JsonResponse = { status: number; headers: readonly HeaderPair[]; json: unknown }

/** A small exchange of JSON, as OIDC and webhooks have it. `json` is undefined for an empty body. */
export async function fetchJson(outbound: Outbound, url: URL, request: JsonRequest): Promise<JsonResponse> {
  const { timeoutMs, signal = null } = request
  const timeout = timeLimit(url.host, timeoutMs)
  try {
    const response = await outbound.request(url, {
      method: request.method ?? 'GET',
      headers: [['accept', 'application/json'], ...(request.headers ?? [])],
      body: request.body ?? null,
      headTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      signal: signal === null ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
    })
    const bytes = await readLimited(response, request.maxBytes)
    return { status: response.status, headers: response.headers, json: parseJson(url, bytes) }
  } catch (error) {
    throw timeout.signal.aborted ? timeout.signal.reason : error
  } finally {
    timeout.stop()
  }
}

/** The whole body. Rejects with `OutboundError` `broken` as soon as it is longer than `maxBytes`. */
export async function readLimited(response: OutboundResponse, maxBytes: number): Promise<Uint8Array> {
  const { body } = response
  if (body === null) return new Uint8Array()
  if (body instanceof Uint8Array) {
    if (body.length > maxBytes) throw tooLong(maxBytes)
    return body
  }
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > maxBytes) throw tooLong(maxBytes)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function parseJson(url: URL, bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new OutboundError('broken', `${url.host} sent something that is not JSON`, error)
  }
}

function timeLimit(label: string, timeoutMs: number): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const error = new OutboundError('timeout', `${label} did not answer in full within ${timeoutMs} ms`)
  const timer = setTimeout(() => controller.abort(error), timeoutMs)
  return { signal: controller.signal, stop: () => clearTimeout(timer) }
}

const tooLong = (maxBytes: number) =>
  new OutboundError('broken', `The answer is longer than the ${maxBytes} bytes that are read of it`)
