import { type KeyObject, X509Certificate } from 'node:crypto'
import { DAY_MS } from '../../domain/durations.ts'
import { PEM_CERTIFICATE } from '../certificates.ts'
import type { AcmeAnswer, AcmeClient } from './client.ts'
import { AcmeError, fieldsOf, problemError } from './error.ts'
import { certificateRequest, keyAuthorization, keyToPem, newKey } from './keys.ts'
import type { ChallengeKind, Proof, Solver } from './solver.ts'

/** A chain, its key and its validity (milliseconds since 1970). */
export type Issued = { certPem: string; keyPem: string; notBefore: number; expiresAt: number }

export type OrderOptions = {
  /** All in one certificate. */
  hosts: readonly string[]
  /** `certificateId` of the one that it takes the place of. */
  replaces: string | null
  accountKey: KeyObject
  solver: Solver
  now: () => number
  signal: AbortSignal
}

/**
 * Runs an order from its creation to the chain. Rejects with `AcmeError`, `OutboundError` or the reason of the signal.
 * RFC 8555 §7.4.
 */
export async function orderCertificate(client: AcmeClient, options: OrderOptions): Promise<Issued> {
  const { hosts, signal, now } = options
  const made = await client.newOrder(hosts, options)
  const url = textOf(made.location, 'the order')
  await authorize(client, listOf(made.json['authorizations']), options)
  const ready = await settled(client, url, 'pending', signal)
  if (ready.json['status'] !== 'ready') throw failureOf(ready, ready.json['error'])
  const key = newKey()
  const csr = certificateRequest(key, hosts).toString('base64url')
  await client.post(textOf(made.json['finalize'], 'the end of the order'), { csr }, signal)
  const order = await settled(client, url, 'processing', signal)
  if (order.json['status'] !== 'valid') throw failureOf(order, order.json['error'])
  const chain = await client.read(textOf(order.json['certificate'], 'the certificate'), signal, PEM_CHAIN)
  return checked(chain.text, key, hosts, now())
}

type Open = { url: string; challengeUrl: string; proof: Proof }

/** Proves that we control the hosts. A recent proof is still valid. RFC 8555 §7.5. */
async function authorize(
  client: AcmeClient,
  authorizations: readonly unknown[],
  options: OrderOptions,
): Promise<void> {
  const { solver, signal } = options
  const open: Open[] = []
  for (const authorization of authorizations) {
    const one = await openOf(client, textOf(authorization, 'an authorization'), options)
    if (one !== null) open.push(one)
  }
  if (open.length === 0) return
  const takeAway = await solver.show(
    open.map(({ proof }) => proof),
    signal,
  )
  try {
    for (const { challengeUrl } of open) await client.post(challengeUrl, {}, signal)
    for (const { url } of open) await untilProven(client, url, signal)
  } finally {
    await takeAway()
  }
}

/** Null if it is proven. */
async function openOf(client: AcmeClient, url: string, options: OrderOptions): Promise<Open | null> {
  const { hosts, accountKey, solver, signal } = options
  const { json } = await client.read(url, signal)
  if (json['status'] === 'valid') return null
  const challenge = listOf(json['challenges'])
    .map(fieldsOf)
    .find(({ type }) => type === solver.kind)
  if (challenge === undefined) throw new AcmeError(NOT_OFFERED[solver.kind])
  const host = fieldsOf(json['identifier'])['value'] ?? hosts[0]
  const token = solver.kind === 'dns-persist-01' ? '' : tokenOf(challenge)
  return {
    url,
    challengeUrl: textOf(challenge['url'], 'a challenge'),
    proof: {
      host: textOf(host, 'the host of an authorization'),
      token,
      text: keyAuthorization(accountKey, token),
      challenge,
      accountUrl: client.accountUrl ?? '',
    },
  }
}

async function untilProven(client: AcmeClient, url: string, signal: AbortSignal): Promise<void> {
  const shown = await settled(client, url, 'pending', signal)
  if (shown.json['status'] === 'valid') return
  const failed = listOf(shown.json['challenges']).find((one) => fieldsOf(one)['error'] !== undefined)
  throw failureOf(shown, fieldsOf(failed)['error'])
}

const NOT_OFFERED: Record<ChallengeKind, string> = {
  'http-01': 'The certificate authority offers no proof over HTTP (http-01), the only one svc gives',
  'dns-01': 'The certificate authority offers no proof by DNS (dns-01), which ACME_DNS needs',
  'dns-persist-01':
    'The certificate authority offers no proof by a record that stays (dns-persist-01): choose another ACME_DNS',
}

const PEM_CHAIN = 'application/pem-certificate-chain'
/** RFC 8555 §8.3: the characters of a token, which becomes part of a path. */
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/
const FIRST_POLL_MS = 200
const MAX_POLL_MS = 5_000
const MAX_RETRY_AFTER_MS = 30_000

function tokenOf(challenge: Record<string, unknown>): string {
  const token = textOf(challenge['token'], 'the token of a challenge')
  if (!TOKEN.test(token)) throw new AcmeError('The certificate authority sent an invalid token')
  return token
}

/** Polls until the status changes. The signal ends a wait that is too long. */
async function settled(
  client: AcmeClient,
  url: string,
  waiting: 'pending' | 'processing',
  signal: AbortSignal,
): Promise<AcmeAnswer> {
  for (let wait = FIRST_POLL_MS; ; wait = Math.min(wait * 2, MAX_POLL_MS)) {
    const answer = await client.read(url, signal)
    if (answer.json['status'] !== waiting) return answer
    await pause(Math.min(Math.max(wait, answer.retryAfterMs ?? 0), MAX_RETRY_AFTER_MS), signal)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stop = () => reject(signal.reason)
  const timer = setTimeout(resolve, ms)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  })
}

/** Rejects a chain that a browser would reject. RFC 8555 §9.1 defines the order of the chain. */
function checked(pem: string, key: KeyObject, hosts: readonly string[], now: number): Issued {
  const [leaf, ...others] = parseChain(pem)
  if (leaf === undefined) throw broken('holds no certificate')
  if (!leaf.checkPrivateKey(key)) throw broken('is for another key')
  const unnamed = hosts.find((host) => leaf.checkHost(host.replace(/^\*/, 'any')) === undefined)
  if (unnamed !== undefined) throw broken(`does not name ${unnamed}`)
  const links = [leaf, ...others]
  const isLinked = others.every((issuer, i) => links[i]?.verify(issuer.publicKey) === true)
  if (!isLinked) throw broken('is incomplete: a certificate does not match its issuer')
  const notBefore = leaf.validFromDate.getTime()
  const expiresAt = leaf.validToDate.getTime()
  if (!(expiresAt > now)) throw broken('has already expired')
  if (notBefore > now + DAY_MS) throw broken('is not valid yet; is the clock of this server right?')
  return { certPem: links.map(String).join(''), keyPem: keyToPem(key), notBefore, expiresAt }
}

function parseChain(pem: string): X509Certificate[] {
  const blocks = pem.match(PEM_CERTIFICATE) ?? []
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    throw broken('cannot be read')
  }
}

const broken = (what: string) => new AcmeError(`The chain that the certificate authority sent ${what}`)

/** Uses the problem in the resource if there is one. */
const failureOf = ({ status, retryAfterMs, json }: AcmeAnswer, problem: unknown): AcmeError =>
  problem === undefined
    ? new AcmeError(
        `The certificate authority calls the order ${String(json['status'])} and does not say why`,
      )
    : problemError(problem, { status, retryAfterMs })

const listOf = (json: unknown): unknown[] => (Array.isArray(json) ? json : [])

function textOf(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new AcmeError(`The certificate authority does not say where ${what} is`)
}
