import type { KeyObject } from 'node:crypto'
import { MINUTE_MS } from '../../domain/durations.ts'
import { parseRetryAfter } from '../../domain/retry-after.ts'
import { readLimited } from '../outbound/read.ts'
import type { Outbound, OutboundResponse } from '../outbound.ts'
import { AcmeError, fieldsOf, problemError } from './error.ts'
import { type ExternalAccount, externalAccountBinding } from './external-account.ts'
import { jwkOf, signJws } from './keys.ts'

type AcmeClientOptions = {
  outbound: Outbound
  /** `ACME_DIRECTORY`. */
  directory: string
  /** The key of the account. */
  key: KeyObject
  /** The account URL from an earlier run; null to ask the authority. */
  accountUrl: string | null
  email: string | null
  externalAccount: ExternalAccount | null
  userAgent: string
  now: () => number
  /** Aborts the requests that several orders share: the directory and the account. */
  signal: AbortSignal
  /** Total time limit of one call: a response that comes byte by byte never triggers an idle timeout. */
  callMs?: number
}

export type AcmeAnswer = {
  status: number
  /** The URL of the created resource. */
  location: string | null
  retryAfterMs: number | null
  text: string
  /** `{}` if the text is not a JSON object. */
  json: Record<string, unknown>
}

/**
 * One account at one authority. Every call rejects with `AcmeError`, `OutboundError` or the reason of its signal. RFC
 * 8555.
 */
export type AcmeClient = {
  readonly accountUrl: string | null
  post(url: string, payload: unknown, signal: AbortSignal): Promise<AcmeAnswer>
  /** Reads a resource that only the account may read. RFC 8555 §6.3. */
  read(url: string, signal: AbortSignal, accept?: string): Promise<AcmeAnswer>
  newOrder(hosts: readonly string[], options: NewOrderOptions): Promise<AcmeAnswer>
  /** What the authority suggests for a certificate; null where it never does. RFC 9773 §4.1. */
  renewalInfo(certificateId: string, signal: AbortSignal): Promise<AcmeAnswer | null>
}

export type NewOrderOptions = {
  /** The certificate that the new one takes the place of. RFC 9773 §5. */
  replaces: string | null
  signal: AbortSignal
}

const TIMEOUT_MS = 20_000
const CALL_MS = MINUTE_MS
const MAX_BYTES = 256 * 1024
/** An authority may reject a nonce after a restart; more failures than this have another cause. */
const MAX_BAD_NONCES = 4
const MAX_NONCES = 8

export function createAcmeClient(options: AcmeClientOptions): AcmeClient {
  return new Client(options)
}

type Sending = { method: string; body: string | null; accept?: string | undefined; signal: AbortSignal }
/** `payload` null: a read without changes. */
type Posting = { payload: unknown; accept?: string | undefined; signal: AbortSignal }

class Client implements AcmeClient {
  readonly #options: AcmeClientOptions
  #accountUrl: string | null
  #account: Promise<string> | undefined
  #directory: Promise<Record<string, unknown>> | undefined
  readonly #nonces: string[] = []

  constructor(options: AcmeClientOptions) {
    this.#options = options
    this.#accountUrl = options.accountUrl
  }

  get accountUrl(): string | null {
    return this.#accountUrl
  }

  async newOrder(hosts: readonly string[], { replaces, signal }: NewOrderOptions): Promise<AcmeAnswer> {
    const url = await this.#resource('newOrder')
    const order = { identifiers: hosts.map((value) => ({ type: 'dns', value })) }
    if (replaces === null || (await this.#renewalUrl()) === null) return this.post(url, order, signal)
    try {
      return await this.post(url, { ...order, replaces }, signal)
    } catch (error) {
      // Another order replaces it already, or it is of an account of before.
      if (!isRefusal(error)) throw error
      return this.post(url, order, signal)
    }
  }

  async renewalInfo(certificateId: string, signal: AbortSignal): Promise<AcmeAnswer | null> {
    const url = await this.#renewalUrl()
    if (url === null) return null
    return this.#send(`${url.replace(/\/$/, '')}/${certificateId}`, { method: 'GET', body: null, signal })
  }

  async #renewalUrl(): Promise<string | null> {
    const { renewalInfo } = await this.#known()
    return typeof renewalInfo === 'string' ? renewalInfo : null
  }

  read(url: string, signal: AbortSignal, accept?: string): Promise<AcmeAnswer> {
    return this.#postAs(url, { payload: null, accept, signal })
  }

  post(url: string, payload: unknown, signal: AbortSignal): Promise<AcmeAnswer> {
    return this.#postAs(url, { payload, signal })
  }

  /** If the authority has forgotten the account, registers it again, once. */
  async #postAs(url: string, posting: Posting): Promise<AcmeAnswer> {
    const kid = await this.#accountOf()
    try {
      return await this.#signed(url, { kid }, posting)
    } catch (error) {
      if (!isOfType(error, 'accountDoesNotExist')) throw error
      if (this.#accountUrl === kid) this.#accountUrl = null
      return this.#signed(url, { kid: await this.#accountOf() }, posting)
    }
  }

  /** Orders that start at the same time share one registration. */
  #accountOf(): string | Promise<string> {
    if (this.#accountUrl !== null) return this.#accountUrl
    this.#account ??= this.#makeAccount().finally(() => {
      this.#account = undefined
    })
    return this.#account
  }

  async #makeAccount(): Promise<string> {
    const { key, email, externalAccount, signal } = this.#options
    const { meta } = await this.#known()
    if (externalAccount === null && fieldsOf(meta)['externalAccountRequired'] === true)
      throw needsExternalAccount()
    const contact = email === null ? {} : { contact: [`mailto:${email}`] }
    const url = await this.#resource('newAccount')
    const binding = externalAccount && {
      externalAccountBinding: externalAccountBinding(externalAccount, key, url),
    }
    const payload = { termsOfServiceAgreed: true, ...contact, ...binding }
    const { location } = await this.#signed(url, { jwk: jwkOf(key) }, { payload, signal }).catch((error) => {
      throw isOfType(error, 'externalAccountRequired') ? needsExternalAccount() : error
    })
    if (location === null) throw new AcmeError('The certificate authority created an account without a URL')
    this.#accountUrl = location
    return location
  }

  async #signed(
    url: string,
    who: { kid: string } | { jwk: unknown },
    { payload, accept, signal }: Posting,
  ): Promise<AcmeAnswer> {
    for (let tries = 1; ; tries++) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce(signal))
      const body = signJws(this.#options.key, { url, nonce, ...who }, payload)
      try {
        return await this.#send(url, { method: 'POST', body, accept, signal })
      } catch (error) {
        if (!isOfType(error, 'badNonce') || tries === MAX_BAD_NONCES) throw error
      }
    }
  }

  async #newNonce(signal: AbortSignal): Promise<string> {
    const url = await this.#resource('newNonce')
    await this.#send(url, { method: 'HEAD', body: null, signal })
    const nonce = this.#nonces.pop()
    if (nonce === undefined) throw new AcmeError('The certificate authority sent no nonce')
    return nonce
  }

  async #resource(name: string): Promise<string> {
    const url = (await this.#known())[name]
    if (typeof url !== 'string')
      throw new AcmeError(`${this.#options.directory} is not an ACME directory: it has no ${name}`)
    return url
  }

  /** Fetched once; after a failure it is fetched again. */
  #known(): Promise<Record<string, unknown>> {
    const { directory, signal } = this.#options
    this.#directory ??= this.#send(directory, { method: 'GET', body: null, signal })
      .then(({ json }) => json)
      .catch((error) => {
        this.#directory = undefined
        throw error
      })
    return this.#directory
  }

  async #send(
    url: string,
    { method, body, accept = 'application/json', signal }: Sending,
  ): Promise<AcmeAnswer> {
    const { callMs = CALL_MS } = this.#options
    const response = await this.#options.outbound.request(parseUrl(url), {
      method,
      headers: [
        ['accept', accept],
        ['user-agent', this.#options.userAgent],
        ...(body === null ? [] : [['content-type', 'application/jose+json'] as const]),
      ],
      body: body === null ? null : Buffer.from(body),
      headTimeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
      signal: AbortSignal.any([signal, AbortSignal.timeout(callMs)]),
    })
    return this.#answerOf(response)
  }

  async #answerOf(response: OutboundResponse): Promise<AcmeAnswer> {
    const header = (wanted: string) => response.headers.find(([name]) => name === wanted)?.[1] ?? null
    const nonce = header('replay-nonce')
    if (nonce !== null && this.#nonces.length < MAX_NONCES) this.#nonces.push(nonce)
    const text = new TextDecoder().decode(await readLimited(response, MAX_BYTES))
    const { status } = response
    const retryAfterMs = parseRetryAfter(header('retry-after'), this.#options.now())
    const json = parseObject(text)
    if (status >= 400) throw problemError(json, { status, retryAfterMs })
    return { status, location: header('location'), retryAfterMs, text, json }
  }
}

const isOfType = (error: unknown, type: string): boolean => error instanceof AcmeError && error.type === type

/** Not now, and not by asking again; as opposed to "too many". */
const isRefusal = (error: unknown): boolean =>
  error instanceof AcmeError && error.status >= 400 && error.status < 500 && error.status !== 429

const needsExternalAccount = (): AcmeError =>
  new AcmeError(
    'This certificate authority wants an account that was made there (external account binding): set ACME_EAB_KID and ACME_EAB_HMAC_KEY to the key identifier and the key that it gave you',
  )

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new AcmeError('The certificate authority sent an invalid URL')
  return new URL(text)
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}
