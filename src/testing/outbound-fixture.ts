import type { OutboundError } from '../platform/outbound/error.ts'
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
} from '../platform/outbound.ts'
import { createTestCa } from './test-ca.ts'
import { type RawBackend, rawTlsBackend } from './tls-backend.ts'

export const BACKEND = 'backend.test'
const ca = createTestCa()
const certificate = ca.issue({ names: [BACKEND, '*.backend.test'] })

type Connected = Parameters<typeof rawTlsBackend>[1]

/** A way out that finds every name on loopback, and backends of raw bytes with certificates that it trusts. */
export type OutboundFixture = {
  outbound: Outbound
  backend(connected: Connected): Promise<RawBackend>
  /** GET `/` of `backend.test`, but for what is given. */
  send(port: number, request?: Partial<OutboundRequest>): ReturnType<Outbound['request']>
  close(): Promise<void>
}

export function outboundFixture(options: Partial<OutboundOptions> = {}): OutboundFixture {
  const outbound = createOutbound({
    resolve: async () => ['127.0.0.1'],
    allowedTargets: ['127.0.0.0/8'],
    extraCaPem: ca.pem,
    ...options,
  })
  const backends: RawBackend[] = []
  return {
    outbound,
    async backend(connected) {
      const backend = await rawTlsBackend(certificate, connected)
      backends.push(backend)
      return backend
    },
    send: (port, request = {}) =>
      outbound.request(new URL(`https://${BACKEND}:${port}/`), { ...DEFAULTS, ...request }),
    async close() {
      outbound.close()
      await Promise.all(backends.map((one) => one.close()))
    },
  }
}

/** For tests that need one with options of their own each; `close` ends them all. */
export function outboundFixtures(): {
  setUp(options?: Partial<OutboundOptions>): OutboundFixture
  close(): Promise<void>
} {
  const made: OutboundFixture[] = []
  return {
    setUp(options) {
      const fixture = outboundFixture(options)
      made.push(fixture)
      return fixture
    },
    async close() {
      await Promise.all(made.map((one) => one.close()))
    },
  }
}

const DEFAULTS: OutboundRequest = {
  method: 'GET',
  headers: [],
  body: null,
  // A machine that is busy may take its time: what tests a limit names its own.
  headTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
}

/** Bytes or a stream of them as Latin-1. */
export async function textOf(body: ReadableStream<Uint8Array> | Uint8Array | null): Promise<string> {
  if (body === null) return ''
  return Buffer.from(await new Response(body as BodyInit).arrayBuffer()).toString('latin1')
}

/** What a promise was rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<Pick<OutboundError, 'kind' | 'message'>> {
  return promise.then(
    () => {
      throw new Error('nothing failed')
    },
    ({ kind, message }) => ({ kind, message }),
  )
}
