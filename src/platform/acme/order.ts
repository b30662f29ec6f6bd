import { type KeyObject, X509Certificate } from 'node:crypto'
import { DAY_MS } from '../../domain/durations.ts'
import { PEM_CERTIFICATE } from '../certificates.ts'
import type { AcmeAnswer, AcmeClient } from './client.ts'
import { AcmeError, fieldsOf, problemError } from './error.ts'
import { certificateRequest, keyAuthorization, keyToPem, newKey } from './keys.ts'

/** A chain, its key and its validity (milliseconds since 1970). */
export type Issued = { certPem: string; keyPem: string; notBefore: number; expiresAt: number }

export type OrderOptions = {
  host: string
  /** `certificateId` of the one that it takes the place of. */
  replaces: string | null
  accountKey: KeyObject
  /** Starts to answer the challenge; gives a function that stops it. */
  answer(token: string, text: string): Promise<() => void>
  now: () => number
  signal: AbortSignal
}

/**
 * Runs an order from its creation to the chain. Rejects with `AcmeError`, `OutboundError` or the reason of the signal.
 * RFC 8555 §7.4.
 */
export async function orderCertificate(client: AcmeClient, options: OrderOptions): Promise<Issued> {
  const { host, signal, now } = options
  const made = await client.newOrder([host], options)
  const url = textOf(made.location, 'the order')
  for (const authorization of listOf(made.json['authorizations']))
    await authorize(client, textOf(authorization, 'an authorization'), options)
  const ready = await settled(client, url, 'pending', signal)
  if (ready.json['status'] !== 'ready') throw failureOf(ready, ready.json['error'])
  const key = newKey()
  const csr = certificateRequest(key, host).toString('base64url')
  await client.post(textOf(made.json['finalize'], 'the end of the order'), { csr }, signal)
  const order = await settled(client, url, 'processing', signal)
  if (order.json['status'] !== 'valid') throw failureOf(order, order.json['error'])
  const chain = await client.read(textOf(order.json['certificate'], 'the certificate'), signal, PEM_CHAIN)
  return checked(chain.text, key, host, now())
}

/** Proves that we control the host. A recent proof is still valid. RFC 8555 §7.5. */
async function authorize(client: AcmeClient, url: string, options: OrderOptions): Promise<void> {
  const { accountKey, signal, answer } = options
  const { json } = await client.read(url, signal)
  if (json['status'] === 'valid') return
  const challenge = httpChallengeOf(json['challenges'])
  if (challenge === null)
    throw new AcmeError(
      'The certificate authority offers no proof over HTTP (http-01), the only one svc gives',
    )
  const { token } = challenge
  const stopAnswering = await answer(token, keyAuthorization(accountKey, token))
  try {
    await client.post(challenge.url, {}, signal)
    const shown = await settled(client, url, 'pending', signal)
    if (shown.json['status'] === 'valid') return
    const failed = listOf(shown.json['challenges']).find((one) => fieldsOf(one)['error'] !== undefined)
    throw failureOf(shown, fieldsOf(failed)['error'])
  } finally {
    stopAnswering()
  }
}

const PEM_CHAIN = 'application/pem-certificate-chain'
/** RFC 8555 §8.3: the characters of a token, which becomes part of a path. */
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/
const FIRST_POLL_MS = 200
const MAX_POLL_MS = 5_000
const MAX_RETRY_AFTER_MS = 30_000

function httpChallengeOf(challenges: unknown): { url: string; token: string } | null {
  const found = listOf(challenges)
    .map(fieldsOf)
    .find(({ type }) => type === 'http-01')
  if (found === undefined) return null
  const token = textOf(found['token'], 'the token of a challenge')
  if (!TOKEN.test(token)) throw new AcmeError('The certificate authority sent an invalid token')
  return { token, url: textOf(found['url'], 'a challenge') }
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
function checked(pem: string, key: KeyObject, host: string, now: number): Issued {
  const [leaf, ...others] = parseChain(pem)
  if (leaf === undefined) throw broken('holds no certificate')
  if (!leaf.checkPrivateKey(key)) throw broken('is for another key')
  if (leaf.checkHost(host) === undefined) throw broken(`does not name ${host}`)
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
