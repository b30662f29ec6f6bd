import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { type AcmeApp, acmeApp } from '../../testing/acme-app.ts'
import { LIFETIME_MS } from '../../testing/acme-authority.ts'
import type { AcmeFaults } from '../../testing/acme-faults.ts'
import { NOON } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'
import { CertificateStore } from './store.ts'

const HOST = 'admin.sites.test'
const FILE = `host-${HOST}.json`

let world: AcmeApp
beforeEach(async () => {
  world = await acmeApp()
})
afterEach(() => world.stop())

const state = () => world.certificates().stateOf(HOST)
const isDone = () => state().status === 'active'
const isFailed = () => state().status === 'failed'
const untilDone = () => until('the certificate', isDone)
const untilFailed = () => until('the failure', isFailed)
const folder = () => join(world.app.ctx.config.dataDir, 'certs')
const stored = () => JSON.parse(readFileSync(join(folder(), FILE), 'utf8'))
const orders = () => world.ca.ordered.length

describe('tolerated faults', () => {
  const borne: [name: string, faults: Partial<AcmeFaults>][] = [
    ['nonces that are refused', { badNonces: 3 }],
    ['an authority that takes its time', { processing: 2 }],
  ]
  test.each(borne)('%s', async (_name, faults) => {
    Object.assign(world.ca.faults, faults)
    await untilDone()
    expect([orders(), state().error]).toEqual([1, null])
  })

  test('a new certificate with a fifth of its lifetime left is kept for most of that time: orders do not repeat', async () => {
    world.ca.faults.chain = 'nearly over'
    await untilDone()
    const restMs = ((LIFETIME_MS / 5) * 2) / 3
    expect(stored().nextTryAt).toBe(NOON + restMs)
    world.advance(restMs - 1000)
    expect(orders()).toBe(1)
    world.advance(1000)
    await until('order 2', () => orders() === 2)
  })

  test('the account is created again when the authority forgot it', async () => {
    await untilDone()
    world.ca.forgetAccounts()
    world.advance(80 * DAY_MS)
    await until('the new certificate', () => state().expiresAt !== NOON + 90 * DAY_MS)
    expect(world.ca.accounts).toBe(1)
    await world.restart()
    world.advance(80 * DAY_MS)
    await until('order 3', () => orders() === 3)
    expect(world.ca.accounts).toBe(1)
  })

  test('an unreadable account is replaced by a new one', async () => {
    await untilDone()
    for (const name of readdirSync(folder()).filter((one) => one.startsWith('account-')))
      writeFileSync(join(folder(), name), '{"directory":"')
    await world.restart()
    world.advance(80 * DAY_MS)
    await until('the second account', () => world.ca.accounts === 2)
    expect(world.app.lines.filter((line) => line.includes('cannot be used'))).not.toHaveLength(0)
  })
})

describe('failures and their reasons', () => {
  const failing: [name: string, faults: Partial<AcmeFaults>, reason: string][] = [
    ['nonces that are always refused', { badNonces: 1000 }, 'Not a nonce of ours'],
    ['a response of 500', { failing: 1 }, 'The database is away'],
    ['no proof over HTTP', { challengeType: 'dns-01' }, 'offers no proof over HTTP'],
    ['an invalid token', { token: '../../etc/passwd' }, 'sent an invalid token'],
    [
      'an account that has to be made there',
      { needsExternalAccount: true },
      'external account binding): set ACME_EAB_KID and ACME_EAB_HMAC_KEY',
    ],
    ['a chain for another key', { chain: 'other key' }, 'is for another key'],
    ['a chain for another host', { chain: 'other host' }, `does not name ${HOST}`],
    ['a chain with a missing link', { chain: 'loose' }, 'is incomplete'],
    ['an unreadable chain', { chain: 'garbage' }, 'cannot be read'],
    ['a chain that has expired', { chain: 'expired' }, 'has already expired'],
    [
      'a chain that is not valid yet',
      { chain: 'not yet' },
      'is not valid yet; is the clock of this server right?',
    ],
  ]
  test.each(failing)('%s', async (_name, faults, reason) => {
    Object.assign(world.ca.faults, faults)
    await untilFailed()
    expect(state().error).toContain(reason)
    expect(world.certificates().all()).toEqual([])
    expect(world.app.lines.some((line) => line.includes('no certificate') && line.includes(reason))).toBe(
      true,
    )
    await world.restart()
    expect(state()).toMatchObject({ status: 'failed', error: expect.stringContaining(reason) })
  })

  test("the authority's message is shown on one line and cut to a maximum length", async () => {
    const detail = `CAA record for ${HOST} prevents issuance\r\n<script>alert(1)</script>${'x'.repeat(9000)}`
    world.ca.faults.refusals.set(HOST, { type: 'caa', detail })
    await untilFailed()
    expect(state().error).toStartWith(`CAA record for ${HOST} prevents issuance <script>alert(1)</script>xxx`)
    expect(state().error?.length).toBe(501)
    expect(world.app.lines.join('')).not.toContain('\r')
  })

  test('an unreachable authority is not asked again at once', async () => {
    await world.stop()
    // A port that the system never assigns.
    world = await acmeApp({ ACME_DIRECTORY: 'https://ca.test:1/directory' })
    await untilFailed()
    expect(state().error).toStartWith('The certificate authority could not be reached.')
    world.advance(30_000)
    expect(stored().failures).toBe(1)
  })

  test('an authority in the local network works, but rules cannot reach it', async () => {
    await untilDone()
    const target = new URL(world.ca.directory)
    await expect(world.app.ctx.outbound.checkTarget(target)).rejects.toMatchObject({
      code: 'PROXY_TARGET_NOT_ALLOWED',
    })
    await expect(
      world.app.ctx.operatorOutbound.checkTarget(new URL('https://other.test/')),
    ).rejects.toMatchObject({
      code: 'PROXY_TARGET_NOT_ALLOWED',
    })
  })
})

describe('limits of the authority', () => {
  test('Retry-After applies to everybody, also after a restart', async () => {
    world.ca.faults.rateLimit = { retryAfter: String(3 * 60 * 60) }
    await untilFailed()
    world.ca.faults.rateLimit = null
    await expect(world.certificates().tryNow(HOST)).rejects.toThrow('Try again in 180 minutes.')
    await world.restart()
    world.advance(3 * HOUR_MS - 1)
    await expect(world.certificates().tryNow(HOST)).rejects.toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
    })
    expect(orders()).toBe(1)
    world.advance(1)
    await untilDone()
  })

  test('Retry-After as a date, and one hour without it', async () => {
    world.ca.faults.rateLimit = { retryAfter: new Date(NOON + 2 * HOUR_MS).toUTCString() }
    await untilFailed()
    expect(stored().blockedUntil).toBe(NOON + 2 * HOUR_MS)
    world.ca.faults.rateLimit = { retryAfter: null }
    world.advance(2 * HOUR_MS)
    await until('the second failure', () => orders() === 2 && isFailed())
    expect(stored().blockedUntil).toBe(NOON + 3 * HOUR_MS)
  })

  test('a person may try again soon, with longer waits each time', async () => {
    world.ca.faults.refusals.set(HOST, { type: 'connection', detail: 'Timeout during connect' })
    await untilFailed()
    const tryNow = () => world.certificates().tryNow(HOST)
    await expect(tryNow()).rejects.toThrow('It was tried just now. Try again in 20 seconds.')
    world.app.advance(20_000)
    await tryNow()
    expect([orders(), isFailed()]).toEqual([2, true])
    world.app.advance(MINUTE_MS)
    await expect(tryNow()).rejects.toThrow('Try again in 3 minutes.')
    world.app.advance(3 * MINUTE_MS)
    world.ca.faults.refusals.clear()
    await tryNow()
    expect([orders(), isDone()]).toEqual([3, true])
    await tryNow()
    expect(orders()).toBe(3)
  })
})

describe('challenges', () => {
  test('are served only for their own host and token, and only during the order', async () => {
    const asked: [string, string][] = []
    const { certificates } = world
    const own = certificates().challengeAnswer.bind(certificates())
    world.ca.faults.token = 'known-token_1'
    let during: (string | undefined)[] = []
    certificates().challengeAnswer = async (host, token) => {
      asked.push([host, token])
      during = await Promise.all([
        own(host, token),
        own('www.example.com', 'known-token_1'),
        own(HOST, 'known-token_1/'),
        own(HOST, `../${HOST}/known-token_1`),
        own(`${HOST}/known-token_1`, ''),
        own(HOST, ''),
      ])
      return own(host, token)
    }
    await untilDone()
    expect(asked).toEqual([[HOST, 'known-token_1']])
    expect(during).toEqual([expect.stringMatching(/^known-token_1\.[\w-]{43}$/), ...Array(5).fill(undefined)])
    expect(own(HOST, 'known-token_1')).toBeUndefined()
  })
})

describe('storage', () => {
  test('keys in the files are sealed', async () => {
    await untilDone()
    const { keyPem } = world.certificates().all()[0] ?? { keyPem: '' }
    const body = keyPem.split('\n')[1] ?? ''
    const texts = readdirSync(folder()).map((name) => readFileSync(join(folder(), name), 'utf8'))
    expect([texts.length, body.length]).toEqual([2, 64])
    expect(texts.join('')).not.toMatch(/PRIVATE KEY/)
    expect(texts.some((text) => text.includes(body))).toBe(false)
  })

  const damages: [name: string, damage: (text: string) => string][] = [
    ['half a file', (text) => text.slice(0, text.length / 2)],
    ['an empty file', () => ''],
    ['the key of another certificate', (text) => text.replace(/"certPem": "[^"]+"/, `"certPem": ${OTHER}`)],
    ['a key that was altered', (text) => text.replace(/(v1\.[0-9a-f]{8}\.).{4}/, '$1AAAA')],
    ['no certificate where one should be', (text) => text.replace(/"certPem": "[^"]+"/, '"certPem": "x"')],
  ]
  let OTHER = '""'
  test.each(damages)('%s is not loaded, and a new one is ordered', async (_name, damage) => {
    await untilDone()
    const text = readFileSync(join(folder(), FILE), 'utf8')
    world.advance(80 * DAY_MS)
    await until('the second certificate', () => orders() === 2 && stored().expiresAt > NOON + 90 * DAY_MS)
    OTHER = JSON.stringify(stored().certPem)
    await world.certificates().stop()
    writeFileSync(join(folder(), FILE), damage(text))
    await world.restart()
    expect(world.certificates().all()).toEqual([])
    expect(world.app.lines.filter((line) => line.includes('cannot be used'))).toHaveLength(1)
    await untilDone()
  })

  test('a certificate sealed with a lost key is ordered again; resealed ones no longer need the old key', async () => {
    await untilDone()
    const { dataDir } = world.app.ctx.config
    const [oldKey, newKey] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'))
    const both = createSecretBox([newKey ?? '', oldKey ?? ''])
    expect(await new CertificateStore(dataDir, both).resealAll()).toBe(2)
    const alone = new CertificateStore(dataDir, createSecretBox([newKey ?? '']))
    const before = world.certificates().all()[0]
    expect(alone.readHosts(world.app.ctx.log)[0]?.certificate?.keyPem).toBe(before?.keyPem)
    expect(alone.readAccount(world.ca.directory, world.app.ctx.log)?.url).toContain('/account/')
    await world.restart()
    expect(world.certificates().all()).toEqual([])
    await untilDone()
  })

  test('after a change of authority, the old certificate is served until the new one arrives', async () => {
    await untilDone()
    const path = join(folder(), FILE)
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replaceAll(world.ca.directory, 'https://old.test/directory'),
    )
    await world.restart()
    const before = world.certificates().all()[0]
    expect(before?.certPem).toBeString()
    await until(
      'the second certificate',
      () => orders() === 2 && world.certificates().all()[0]?.certPem !== before?.certPem,
    )
    expect(stored().issuer).toBe(world.ca.directory)
  })

  test('a missing folder is created', async () => {
    await untilDone()
    await world.certificates().stop()
    rmSync(folder(), { recursive: true })
    await world.restart()
    await untilDone()
    expect(orders()).toBe(2)
  })
})
