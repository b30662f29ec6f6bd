import { createHash, createPublicKey, type KeyObject, randomUUID, verify } from 'node:crypto'
import { DAY_MS } from '../domain/durations.ts'
import { readCsr } from './acme-csr.ts'
import { flawOfBinding } from './acme-external-accounts.ts'
import { type AcmeFaults, noFaults } from './acme-faults.ts'
import { RenewalDesk } from './acme-renewals.ts'
import { createTestCa, selfSigned, type TestCa } from './test-ca.ts'

export type AcmeCa = {
  directory: string
  /** The root certificate for the authority itself and for the certificates it issues. */
  pem: string
  /** For another server of the test. */
  tlsFor(name: string): { cert: string; key: string }
  faults: AcmeFaults
  renewals: RenewalDesk
  /** The hosts of all orders so far, in order. */
  ordered: string[]
  accounts: number
  /** Forgets all accounts, as after a reinstallation. */
  forgetAccounts(): void
  stop(): Promise<void>
}

type AcmeCaOptions = {
  /** The port to check challenges on, instead of 80. */
  challengePort: number | Promise<number>
  now: () => number
  lifetimeMs: number
  /** The host name in its own URL, which must resolve to 127.0.0.1. */
  name?: string
  /** The TXT values of a name, which dns-01 and dns-persist-01 are checked by. */
  textsAt?: (name: string) => Promise<readonly string[]> | readonly string[]
}

type Order = {
  hosts: readonly string[]
  authorizations: readonly string[]
  status: string
  account: string
  polls: number
  pem: string | null
  error?: object
}
/** `host` without the `*.` of a wildcard. */
type Authorization = {
  host: string
  isWildcard: boolean
  status: string
  token: string
  order: string
  error?: object
}

/** A strict certificate authority over HTTPS: it verifies signatures, nonces, challenges and requests. RFC 8555. */
export function startAcmeCa(options: AcmeCaOptions): AcmeCa {
  const { name = 'ca.test' } = options
  const root = createTestCa('Test ACME CA')
  const { cert, key } = root.issue({ names: [name] })
  const desk = new Desk(root, options)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    fetch: (request) => desk.answer(request),
  })
  desk.origin = `https://${name}:${server.port}`
  return {
    directory: `${desk.origin}/directory`,
    pem: root.pem,
    tlsFor: (other) => root.issue({ names: [other] }),
    faults: desk.faults,
    renewals: desk.renewals,
    ordered: desk.ordered,
    get accounts() {
      return desk.accounts.size
    },
    forgetAccounts: () => desk.accounts.clear(),
    stop: () => server.stop(true),
  }
}

class Desk {
  origin = ''
  readonly ordered: string[] = []
  readonly accounts = new Map<string, KeyObject>()
  readonly faults = noFaults()
  readonly renewals = new RenewalDesk()
  readonly #root: TestCa
  readonly #options: AcmeCaOptions
  readonly #nonces = new Set<string>()
  readonly #orders = new Map<string, Order>()
  readonly #authorizations = new Map<string, Authorization>()

  constructor(root: TestCa, options: AcmeCaOptions) {
    this.#root = root
    this.#options = options
  }

  async answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    try {
      if (pathname === '/directory') return this.#json(this.#directory())
      if (pathname === '/nonce') return this.#json(null)
      if (pathname.startsWith(RENEWAL))
        return await this.renewals.answer(request, pathname.slice(RENEWAL.length))
      return await this.#signed(request, pathname)
    } catch (error) {
      if (error instanceof Refusal) return this.#refused(error)
      throw error
    }
  }

  #directory(): object {
    const { origin, faults } = this
    const renewals = this.renewals.isOffered ? { renewalInfo: 'renewal' } : {}
    const addresses = { newNonce: 'nonce', newAccount: 'account', newOrder: 'order', ...renewals }
    const entries = Object.entries(addresses).map(([key, path]) => [key, `${origin}/${path}`])
    const meta = { externalAccountRequired: faults.needsExternalAccount }
    return { ...Object.fromEntries(entries), meta }
  }

  async #signed(request: Request, pathname: string): Promise<Response> {
    const { faults } = this
    if (faults.failing > 0) {
      faults.failing -= 1
      throw new Refusal(500, 'serverInternal', 'The database is away')
    }
    const jws = (await request.json()) as { protected: string; payload: string; signature: string }
    const header = fromBase64(jws.protected) as Record<string, unknown>
    if (request.headers.get('content-type') !== 'application/jose+json') throw malformed('content type')
    if (header['alg'] !== 'ES256' || header['url'] !== `${this.origin}${pathname}`) throw malformed('header')
    const nonce = String(header['nonce'])
    const isRefused = faults.badNonces > 0
    if (isRefused) faults.badNonces -= 1
    if (!this.#nonces.delete(nonce) || isRefused) throw new Refusal(400, 'badNonce', 'Not a nonce of ours')
    const kid = typeof header['kid'] === 'string' ? header['kid'] : null
    const key = this.#keyOf(kid, header['jwk'], pathname)
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`)
    const signature = Buffer.from(jws.signature, 'base64url')
    if (!verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)) throw malformed('signature')
    const payload = jws.payload === '' ? null : (fromBase64(jws.payload) as Record<string, unknown>)
    return kid === null ? this.#newAccount(key, header['jwk'], payload) : this.#route(pathname, kid, payload)
  }

  #keyOf(kid: string | null, jwk: unknown, pathname: string): KeyObject {
    if (kid === null) {
      if (pathname !== '/account') throw malformed('account')
      return createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' })
    }
    const key = this.accounts.get(kid)
    if (key === undefined) throw new Refusal(400, 'accountDoesNotExist', 'No such account')
    return key
  }

  #newAccount(key: KeyObject, jwk: unknown, payload: Record<string, unknown> | null): Response {
    if (payload?.['termsOfServiceAgreed'] !== true) throw malformed('terms')
    const { needsExternalAccount, externalAccounts } = this.faults
    const binding = payload['externalAccountBinding']
    const about = { jwk, url: `${this.origin}/account` }
    const flaw = needsExternalAccount ? flawOfBinding(externalAccounts, binding, about) : null
    if (flaw !== null)
      throw new Refusal(403, binding === undefined ? 'externalAccountRequired' : 'unauthorized', flaw)
    const known = [...this.accounts].find(([, other]) => thumbprint(other) === thumbprint(key))
    const location = known?.[0] ?? `${this.origin}/account/${randomUUID()}`
    this.accounts.set(location, key)
    return this.#json({ status: 'valid' }, { status: known === undefined ? 201 : 200, location })
  }

  #route(pathname: string, account: string, payload: Record<string, unknown> | null): Response {
    const [, kind = '', id = '', part] = pathname.split('/')
    if (kind === 'order' && id === '') return this.#newOrder(account, payload)
    if (kind === 'authorization') return this.#authorization(id, account, payload, part === 'challenge')
    const order = this.#orders.get(id)
    if (order === undefined || order.account !== account) throw new Refusal(404, 'malformed', 'No such order')
    if (part === 'finalize') return this.#finalize(id, order, payload)
    if (part === 'certificate' && payload === null)
      return this.#answerText(order.pem ?? '', 'application/pem-certificate-chain')
    if (order.status === 'processing' && --order.polls <= 0) order.status = 'valid'
    return this.#showOrder(id, order)
  }

  #newOrder(account: string, payload: Record<string, unknown> | null): Response {
    const identifiers = payload?.['identifiers'] as { type: string; value: string }[]
    const hosts = identifiers.map(({ value }) => value)
    const host = hosts[0] ?? ''
    this.ordered.push(host)
    const { rateLimit } = this.faults
    if (rateLimit !== null) {
      const headers = rateLimit.retryAfter === null ? {} : { 'retry-after': rateLimit.retryAfter }
      throw new Refusal(429, 'rateLimited', 'too many new orders recently', headers)
    }
    if (!this.renewals.takes(payload?.['replaces'], host))
      throw new Refusal(409, 'alreadyReplaced', 'It was replaced, or is another one')
    const id = randomUUID()
    const authorizations = hosts.map((one) => this.#openAuthorization(one, id))
    this.#orders.set(id, { hosts, authorizations, status: 'pending', account, polls: 0, pem: null })
    return this.#showOrder(id, this.#orderOf(id), 201)
  }

  #openAuthorization(host: string, order: string): string {
    const id = randomUUID()
    const token = this.faults.token ?? randomUUID().replaceAll('-', '_')
    const isWildcard = host.startsWith('*.')
    const name = host.replace(/^\*\./, '')
    this.#authorizations.set(id, { host: name, isWildcard, status: 'pending', token, order })
    return id
  }

  #showOrder(id: string, { status, error, authorizations }: Order, httpStatus = 200): Response {
    const at = `${this.origin}/order/${id}`
    const body = {
      status,
      error,
      authorizations: authorizations.map((one) => `${this.origin}/authorization/${one}`),
      finalize: `${at}/finalize`,
      ...(status === 'valid' ? { certificate: `${at}/certificate` } : {}),
    }
    return this.#json(body, { status: httpStatus, ...(httpStatus === 201 ? { location: at } : {}) })
  }

  #authorization(id: string, account: string, payload: unknown, isChallenge: boolean): Response {
    const found = this.#authorizations.get(id)
    const order = this.#orders.get(found?.order ?? '')
    if (found === undefined || order?.account !== account) throw malformed('authorization')
    if (isChallenge && payload !== null && found.status === 'pending') void this.#check(found, account)
    const { host, isWildcard, status, token, error } = found
    const url = `${this.origin}/authorization/${id}/challenge`
    const type = this.faults.challengeType
    const more = type === 'dns-persist-01' ? { 'issuer-domain-names': [ISSUER] } : { token }
    const challenge = { type, url, ...more, status, error }
    const identifier = { type: 'dns', value: host }
    return this.#json(
      isChallenge ? challenge : { status, identifier, wildcard: isWildcard, challenges: [challenge] },
    )
  }

  async #check(authorization: Authorization, account: string): Promise<void> {
    const { host } = authorization
    const order = this.#orderOf(authorization.order)
    const refusal = this.faults.refusals.get(host)
    const isRight = await this.#isShown(authorization, account)
    authorization.status = isRight && refusal === undefined ? 'valid' : 'invalid'
    const all = order.authorizations.map((id) => this.#authorizations.get(id)?.status)
    if (all.includes('invalid')) order.status = 'invalid'
    else if (all.every((status) => status === 'valid')) order.status = 'ready'
    if (authorization.status === 'valid') return
    const problem = refusal ?? { type: 'unauthorized', detail: `${host} does not show what it should` }
    authorization.error = { ...problem, type: NAMESPACE + problem.type }
  }

  /** Looks as from outside. */
  async #isShown({ host, token, isWildcard }: Authorization, account: string): Promise<boolean> {
    const key = this.accounts.get(account)
    if (key === undefined) return false
    const text = `${token}.${thumbprint(key)}`
    const { challengePort, textsAt = () => [] } = this.#options
    const type = this.faults.challengeType
    if (type === 'dns-persist-01')
      return (await textsAt(`_validation-persist.${host}`)).includes(
        `${ISSUER}; accounturi=${account}; policy=wildcard`,
      )
    if (type === 'dns-01')
      return (await textsAt(`_acme-challenge.${host}`)).includes(
        createHash('sha256').update(text).digest('base64url'),
      )
    if (isWildcard) return false
    const url = `http://127.0.0.1:${await challengePort}/.well-known/acme-challenge/${token}`
    const answer = await fetch(url, { headers: { host } }).catch(() => undefined)
    return answer?.status === 200 && (await answer.text()).trim() === text
  }

  #finalize(id: string, order: Order, payload: Record<string, unknown> | null): Response {
    if (order.status !== 'ready') throw new Refusal(403, 'orderNotReady', 'Not yet')
    const { names, publicKey } = readCsr(Buffer.from(String(payload?.['csr']), 'base64url'))
    if (names.join() !== order.hosts.join()) throw new Refusal(400, 'badCSR', `It names ${names}`)
    order.pem = this.#chain(order.hosts, publicKey)
    order.polls = this.faults.processing
    order.status = order.polls > 0 ? 'processing' : 'valid'
    return this.#showOrder(id, order)
  }

  #chain(hosts: readonly string[], publicKey: KeyObject): string {
    const { now, lifetimeMs } = this.#options
    const { chain } = this.faults
    const names = chain === 'other host' ? ['elsewhere.example'] : hosts
    const from = now() + startOf(chain, lifetimeMs)
    const dates = { notBefore: from, notAfter: from + lifetimeMs }
    if (chain === 'garbage') return '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    if (chain === 'other key') return this.#root.issue({ names, ...dates }).cert + this.#root.pem
    const leaf = this.#root.certify(publicKey, { names, ...dates })
    this.renewals.issued(leaf, hosts[0] ?? '', this.#root.keyId)
    return leaf + (chain === 'loose' ? selfSigned(['another ca']).cert : this.#root.pem)
  }

  #orderOf(id: string): Order {
    const order = this.#orders.get(id)
    if (order === undefined) throw malformed('order')
    return order
  }

  #refused({ status, type, message, headers }: Refusal): Response {
    return this.#json({ type: NAMESPACE + type, detail: message, status }, { status, ...headers })
  }

  #json(body: unknown, { status = 200, ...headers }: { status?: number; location?: string } = {}): Response {
    return this.#answerText(JSON.stringify(body), 'application/json', status, headers)
  }

  #answerText(body: string, type: string, status = 200, headers: Record<string, string> = {}): Response {
    const nonce = randomUUID()
    this.#nonces.add(nonce)
    return new Response(body, {
      status,
      headers: { 'replay-nonce': nonce, 'content-type': type, ...headers },
    })
  }
}

const RENEWAL = '/renewal/'
/** RFC 8659 §4.2: as in CAA records. */
const ISSUER = 'ca.test'

/** The start of a chain's validity, in milliseconds from now. */
function startOf(chain: AcmeFaults['chain'], lifetimeMs: number): number {
  if (chain === 'expired') return -lifetimeMs - 1000
  if (chain === 'nearly over') return -0.8 * lifetimeMs
  return chain === 'not yet' ? 2 * DAY_MS : 0
}

const NAMESPACE = 'urn:ietf:params:acme:error:'

class Refusal extends Error {
  readonly status: number
  readonly type: string
  readonly headers: Record<string, string>

  constructor(status: number, type: string, detail: string, headers: Record<string, string> = {}) {
    super(detail)
    this.status = status
    this.type = type
    this.headers = headers
  }
}

const malformed = (what: string) => new Refusal(400, 'malformed', `The ${what} is malformed`)

function thumbprint(key: KeyObject): string {
  const { crv, kty, x, y } = key.export({ format: 'jwk' })
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
}

const fromBase64 = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString())
