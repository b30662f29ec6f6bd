import { messageOf } from '../../../domain/errors.ts'
import { readLimited } from '../../outbound/read.ts'
import type { Outbound } from '../../outbound.ts'
import { AcmeError, fieldsOf } from '../error.ts'

const TIMEOUT_MS = 20_000
const MAX_BYTES = 1024 * 1024

export type ApiOptions = {
  outbound: Outbound
  /** Without a slash at the end. */
  base: string
  headers: readonly (readonly [string, string])[]
  /** Never shown, whatever the API says. */
  secrets: readonly string[]
}

export type ApiAnswer = { status: number; json: Record<string, unknown> }

/** Calls of one JSON API. Rejects with `AcmeError` unless the answer is a success or a status in `also`. */
export class DnsApi {
  readonly #options: ApiOptions

  constructor(options: ApiOptions) {
    this.#options = options
  }

  async call(
    method: string,
    path: string,
    { body = null, also = [], signal }: { body?: unknown; also?: readonly number[]; signal: AbortSignal },
  ): Promise<ApiAnswer> {
    const { base, secrets } = this.#options
    const { host } = new URL(base)
    try {
      const { status, text } = await this.#send(method, path, body, signal)
      const json = parsed(text)
      if ((status >= 200 && status < 300) || also.includes(status)) return { status, json }
      throw new AcmeError(hidden(`${host} answered ${status} to ${method} ${path}${reasonIn(json)}`, secrets))
    } catch (error) {
      if (error instanceof AcmeError) throw error
      signal.throwIfAborted()
      throw new AcmeError(hidden(`${host} could not be asked. ${messageOf(error)}`, secrets))
    }
  }

  async #send(method: string, path: string, body: unknown, signal: AbortSignal) {
    const { outbound, base, headers } = this.#options
    const bytes = body === null ? null : Buffer.from(JSON.stringify(body))
    const response = await outbound.request(new URL(base + path), {
      method,
      headers: [
        ['accept', 'application/json'],
        ...(bytes === null ? [] : [['content-type', 'application/json'] as const]),
        ...headers,
      ],
      body: bytes,
      headTimeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
      signal: AbortSignal.any([signal, AbortSignal.timeout(3 * TIMEOUT_MS)]),
      mayBePlain: true,
    })
    const text = new TextDecoder().decode(await readLimited(response, MAX_BYTES))
    return { status: response.status, text }
  }
}

/** What Cloudflare (`errors[].message`), Hetzner (`error.message`) and acme-dns (`error`) say. */
function reasonIn(json: Record<string, unknown>): string {
  const { errors, error } = json
  const said = [
    ...(Array.isArray(errors) ? errors.map((one) => fieldsOf(one)['message']) : []),
    fieldsOf(error)['message'],
    error,
  ].filter((one) => typeof one === 'string')
  return said.length === 0 ? '' : `: ${said.join(' ')}`
}

const hidden = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => (secret === '' ? shown : shown.replaceAll(secret, '(hidden)')), text)

function parsed(text: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The names that may be the zone of this one, longest first, without the last label. */
export const zonesOf = (name: string): string[] => {
  const labels = name.split('.')
  return labels.map((_, at) => labels.slice(at).join('.')).slice(0, -1)
}

export const listIn = (json: Record<string, unknown>, key: string): Record<string, unknown>[] => {
  const list = json[key]
  return Array.isArray(list) ? list.map(fieldsOf) : []
}
