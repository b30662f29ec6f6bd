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

/** An outbound client that resolves every name to loopback, and backends of raw bytes whose certificates it trusts. */
export type OutboundFixture = {
  outbound: Outbound
  backend(connected: Connected): Promise<RawBackend>
  /** Sends GET `/` to `backend.test`, with the given changes. */
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

/** For tests that each need their own options; `close` ends all of them. */
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
  // A busy machine may be slow: tests of a limit set their own.
  headTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
}

/** Reads bytes or a stream as Latin-1. */
export async function textOf(body: ReadableStream<Uint8Array> | Uint8Array | null): Promise<string> {
  if (body === null) return ''
  return Buffer.from(await new Response(body as BodyInit).arrayBuffer()).toString('latin1')
}

/** Returns the error of a rejected promise. */
export async function failureOf(promise: Promise<unknown>): Promise<Pick<OutboundError, 'kind' | 'message'>> {
  return promise.then(
    () => {
      throw new Error('nothing failed')
    },
    ({ kind, message }) => ({ kind, message }),
  )
}
