import { messageOf } from '../domain/errors.ts'
import { parseHttpDate } from '../domain/http-date.ts'
import { isRecord } from '../domain/is-record.ts'
import { parseRetryAfter } from '../domain/retry-after.ts'
import { VERSION } from '../release-info.ts'
import { bytesOfAnswer } from './answer-text.ts'
import { CommandFailure, EXIT, type Io, printable, UsageError } from './command.ts'
import { type HttpProxy, proxyFor } from './proxy.ts'
import { unreachableReason } from './unreachable.ts'

/** The server refused the request. `message` is the server's sentence. */
export class ApiFailure extends CommandFailure {
  readonly status: number
  /** The server's `error`: a named code or the reason phrase. */
  readonly code: string
  readonly details: readonly ApiDetail[]
  readonly retryAfterMs: number | undefined
  /** True when the API itself answered; false for a proxy or another server. */
  readonly isOfApi: boolean

  constructor(answer: FailedAnswer) {
    super(describeFailure(answer), EXIT.failed)
    this.status = answer.status
    this.code = answer.code
    this.details = answer.details
    this.retryAfterMs = answer.retryAfterMs
    this.isOfApi = answer.isOfApi
  }
}

/** No answer came: connection refused or reset, name not resolved, timeout, cut off. */
export class ServerUnreachable extends CommandFailure {
  constructor(message: string, cause?: unknown) {
    super(message, EXIT.unreachable, { cause })
  }
}

/** The trouble is the proxy's, not the server's. A retry would not help where it wants a password. */
class ProxyFailed extends CommandFailure {
  constructor({ address, variable }: HttpProxy, why: string, cause?: unknown) {
    super(`the proxy ${address} (${variable}) ${why}`, EXIT.unreachable, { cause })
  }
}

/** Something answers, but it may be the wrong server: a retry would not help. */
class ServerUntrusted extends CommandFailure {
  constructor(origin: string, cause: Error & { code: unknown }) {
    const reason = cause.code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? 'it is for another host' : cause.message
    const hint =
      'If it has an authority of its own, name the file of its root certificate in NODE_EXTRA_CA_CERTS'
    super(`the certificate of ${origin} is not trusted: ${reason}. ${hint}`, EXIT.unreachable, { cause })
  }
}

type ApiDetail = { path: string; message: string }
type FailedAnswer = Pick<ApiFailure, 'status' | 'code' | 'message' | 'details' | 'retryAfterMs' | 'isOfApi'>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type StreamedBody = { contentType: string; body: ReadableStream<Uint8Array> | null; signal?: AbortSignal }

/** `env` may name a proxy. `ca`: the trusted CAs, if they are not the runtime's own. */
export type Connection = {
  apiUrl: string
  /** Null for the routes that need none. */
  apiKey: string | null
  env: Io['env']
  ca?: readonly string[] | null
}

/** One request per call; `retrying` repeats it. Answers are parsed JSON, undefined where there is none (204). */
export type ApiClient = {
  json(method: Method, path: string, body?: unknown, timeoutMs?: number): Promise<unknown>
  /** What is no JSON. */
  bytes(path: string): Promise<Uint8Array>
  /** Streams with backpressure. An error thrown by the stream is rethrown, and the request stays unfinished. */
  send(method: Method, path: string, body: StreamedBody): Promise<unknown>
}

const ANSWER_TIMEOUT_MS = 120_000
const LONGEST_TEXT = 2_000
const MAX_DETAILS = 200

/** `apiUrl` as a person gives it: with or without a path, a last slash or a last `/api`. */
export function apiClient(options: Connection): ApiClient {
  const base = parseApiUrl(options.apiUrl)
  const credential: Record<string, string> =
    options.apiKey === null ? {} : { 'x-api-key': parseApiKey(options.apiKey) }
  const proxy = proxyFor(base, options.env)
  const trust = options.ca ? { tls: { ca: [...options.ca] } } : {}
  const call = async (method: Method, path: string, init: RequestInit) =>
    jsonOf(await answerTo(method, path, init), proxy)
  const answerTo = (method: Method, path: string, init: RequestInit) =>
    request(`${base}${path}`, proxy, {
      ...init,
      ...trust,
      method,
      // A redirect would carry the key to another host and turn a POST into a GET.
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        'user-agent': `svc/${VERSION}`,
        ...credential,
        ...init.headers,
      },
    })
  return {
    json: (method, path, body, timeoutMs = ANSWER_TIMEOUT_MS) =>
      call(method, path, {
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    bytes: async (path) =>
      bytesOf(await answerTo('GET', path, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }), proxy),
    send: (method, path, { contentType, body, signal }) =>
      call(method, path, {
        body: body ?? new Uint8Array(0),
        headers: { 'content-type': contentType },
        ...(signal === undefined ? {} : { signal }),
      }),
  }
}

/** The base that paths beginning with `/api/` are appended to. Throws a `UsageError`. */
export function parseApiUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(`"${text}" is no API address; it looks like https://admin.example.com`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api$/, '')}`
}

/** Checked here, because `Headers` rejects the value without naming it. */
function parseApiKey(text: string): string {
  const key = text.trim()
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UsageError('the API key is empty or holds spaces or letters that no key has')
  return key
}

type Answer = { response: Response; bytes: Uint8Array }

const request = (url: string, proxy: HttpProxy | undefined, init: RequestInit): Promise<Answer> =>
  fetched(url, proxy, init, async (response) => ({ response, bytes: await bytesOfAnswer(response) }))

/** Something that answers everything with a page is no svc. */
function bytesOf(answer: Answer, proxy: HttpProxy | undefined): Uint8Array {
  const type = answer.response.headers.get('content-type') ?? ''
  if (answer.response.ok && !type.startsWith('text/html')) return answer.bytes
  throw failureOf(answer.response, parseJson(new TextDecoder().decode(answer.bytes)), proxy)
}

function jsonOf({ response, bytes }: Answer, proxy: HttpProxy | undefined): unknown {
  const text = new TextDecoder().decode(bytes)
  const json = parseJson(text)
  if (response.ok && (json !== undefined || text === '')) return json
  throw failureOf(response, json, proxy)
}

const failureOf = (response: Response, json: unknown, proxy: HttpProxy | undefined): CommandFailure =>
  proxy !== undefined && response.status === 407
    ? new ProxyFailed(proxy, WANTS_A_PASSWORD)
    : new ApiFailure(failedAnswer(response, json, proxy))

/** What `read` makes of the answer. Throws a `CommandFailure` that says whether the server or the proxy is in trouble. */
export async function fetched<T>(
  url: string,
  proxy: HttpProxy | undefined,
  init: RequestInit,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  try {
    // NO_PROXY has been read already.
    const through = proxy === undefined ? false : { url: proxy.url, respectNoProxy: false }
    return await read(await fetch(url, { ...init, proxy: through }))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    const { origin } = new URL(url)
    if (isAboutCertificate(error)) throw new ServerUntrusted(origin, error)
    if (proxy !== undefined) throw throughProxy(proxy, origin, error)
    throw new ServerUnreachable(`${origin} is not reachable: ${unreachableReason(error)}`, error)
  }
}

/** Through a proxy there is no connection to the server itself: whatever failed before an answer is the proxy's. */
function throughProxy(proxy: HttpProxy, origin: string, error: unknown): CommandFailure {
  const refusal = /refused to open a tunnel: ((\d+).*)$/.exec(messageOf(error))
  if (refusal === null)
    return new ServerUnreachable(
      `${origin} is not reached through the proxy ${proxy.address} (${proxy.variable}): ${unreachableReason(error)}`,
      error,
    )
  const [, answer = '', status] = refusal
  if (status === '407') return new ProxyFailed(proxy, WANTS_A_PASSWORD, error)
  return new ProxyFailed(
    proxy,
    `refuses to lead to ${origin}: ${printable(answer)}. NO_PROXY takes a host out`,
    error,
  )
}

const WANTS_A_PASSWORD =
  'wants a password (407); write it into the variable, as in http://user:password@proxy.example.com:3128'

/** By the error codes of OpenSSL and of the host name check. */
const isAboutCertificate = (error: unknown): error is Error & { code: unknown } =>
  error instanceof Error &&
  'code' in error &&
  /^(CERT_|ERR_TLS_CERT_|UNABLE_TO_|(DEPTH_ZERO_)?SELF_SIGNED_CERT)/.test(String(error.code))

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function failedAnswer(response: Response, json: unknown, proxy: HttpProxy | undefined): FailedAnswer {
  const body = isRecord(json) ? json : {}
  const { message, error, details } = body
  return {
    status: response.status,
    code: typeof error === 'string' ? error : response.statusText,
    message: typeof message === 'string' ? shown(message) : describeStranger(response, proxy),
    details: Array.isArray(details) ? details.filter(isDetail).slice(0, MAX_DETAILS).map(shownDetail) : [],
    retryAfterMs: retryAfterOf(response.headers),
    isOfApi: typeof message === 'string',
  }
}

/** A message of the server stays one line of limited length. */
const shown = (text: string): string =>
  printable(text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text)

const shownDetail = ({ path, message }: ApiDetail): ApiDetail => ({
  path: shown(path),
  message: shown(message),
})

/** For answers not written by the API: a proxy's page, a redirect, another site at this address. */
function describeStranger(response: Response, proxy: HttpProxy | undefined): string {
  const { origin } = new URL(response.url)
  // Plain HTTP through a proxy: either may have written it.
  if (proxy !== undefined && origin.startsWith('http:'))
    return `the proxy ${proxy.address} (${proxy.variable}), or ${origin} behind it, answered ${response.status} without JSON`
  const location = response.headers.get('location')
  if (location !== null) return `${origin} redirects to ${location}; give that address as --api-url`
  if (response.status >= 500) return `${origin} answered ${response.status} ${response.statusText}`
  if (response.status === 413)
    return `a proxy in front of ${origin} lets no body of this size pass (413); nginx does with "client_max_body_size 0"`
  return `${origin} answered ${response.status} without JSON; is it the address of the API?`
}

function describeFailure({ message, details }: FailedAnswer): string {
  // The message is often the first detail, with or without its place.
  const others = details.flatMap((detail) => {
    const line = detail.path === '' ? detail.message : `${detail.path}: ${detail.message}`
    return [line, detail.message, `The body: ${detail.message}`].includes(message) ? [] : [line]
  })
  return [message, ...others.map((line) => `  ${line}`)].join('\n')
}

/** A date is relative to the sender's clock. */
function retryAfterOf(headers: Headers): number | undefined {
  const sentAt = parseHttpDate(headers.get('date') ?? '')
  return parseRetryAfter(headers.get('retry-after'), sentAt) ?? undefined
}

function isDetail(value: unknown): value is ApiDetail {
  return isRecord(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string'
}
