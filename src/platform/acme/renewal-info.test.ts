import { expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { createTestCa } from '../../testing/test-ca.ts'
import type { AcmeAnswer, AcmeClient } from './client.ts'
import { askRenewalInfo, certificateId } from './renewal-info.ts'

/** The certificate of RFC 9773, appendix A, whose identifier stands in §4.1. */
const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`
const ID = 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE'

test('a certificate is named by the key of its issuer and its number, leading zero and all', () => {
  expect(certificateId(EXAMPLE)).toBe(ID)
  expect(certificateId(EXAMPLE + createTestCa().pem)).toBe(ID)
})

test.each([
  ['the root of an authority, which names no issuer', () => createTestCa().pem],
  ['nothing', () => ''],
  ['garbage', () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
])('%s has no name', (_what, pem) => {
  expect(certificateId(pem())).toBeNull()
})

/** An authority that answers so. */
const authority = (suggestedWindow: unknown, retryAfterMs: number | null = null): AcmeClient =>
  ({
    renewalInfo: async (id: string) =>
      ({ json: id === ID ? { suggestedWindow } : {}, retryAfterMs }) as unknown as AcmeAnswer,
  }) as unknown as AcmeClient
const ask = (client: AcmeClient) => askRenewalInfo(client, EXAMPLE, new AbortController().signal)

const WINDOW = { start: '2026-03-01T04:00:00Z', end: '2026-03-03T04:00:00.5+01:00' }

test.each([
  [null, 6 * HOUR_MS],
  [0, MINUTE_MS],
  [59_000, MINUTE_MS],
  [HOUR_MS, HOUR_MS],
  [DAY_MS + 1, DAY_MS],
  [1e15, DAY_MS],
])('Retry-After of %p ms: asked again after %p', async (retryAfterMs, askAgainMs) => {
  expect(await ask(authority(WINDOW, retryAfterMs))).toEqual({
    start: Date.UTC(2026, 2, 1, 4),
    end: Date.UTC(2026, 2, 3, 3, 0, 0, 500),
    askAgainMs,
  })
})

const wrong: unknown[] = [
  undefined,
  null,
  'soon',
  [],
  { start: WINDOW.start },
  { start: WINDOW.end, end: WINDOW.start },
  { start: WINDOW.start, end: WINDOW.start },
  { start: 0, end: 1 },
  { start: '2026', end: '2027' },
  { start: '2026-13-01T00:00:00Z', end: WINDOW.end },
]
test.each(wrong.map((window) => [window]))('a window %j is none', async (window) => {
  await expect(ask(authority(window))).rejects.toThrow('names no time in which to renew')
})

test('nothing is asked of an authority that never says', async () => {
  const silent = { renewalInfo: async () => null } as unknown as AcmeClient
  expect(await ask(silent)).toBeNull()
})
