import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { type AcmeApp, acmeApp, LIFETIME_MS, until } from '../../testing/acme-app.ts'
import type { AcmeFaults } from '../../testing/acme-faults.ts'
import { NOON } from '../../testing/test-app.ts'
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
const folder = () => join(world.app.ctx.config.dataDir, 'certs')
const stored = () => JSON.parse(readFileSync(join(folder(), FILE), 'utf8'))
const orders = () => world.ca.ordered.length

describe('what is borne', () => {
  const borne: [name: string, faults: Partial<AcmeFaults>][] = [
    ['nonces that are refused', { badNonces: 3 }],
    ['an authority that takes its time', { processing: 2 }],
  ]
  test.each(borne)('%s', async (_name, faults) => {
    Object.assign(world.ca.faults, faults)
    await until(isDone)
    expect([orders(), state().error]).toEqual([1, null])
  })

  test('a certificate with a fifth of its time left has to do for most of that: no order follows the other', async () => {
    world.ca.faults.chain = 'nearly over'
    await until(isDone)
    const restMs = ((LIFETIME_MS / 5) * 2) / 3
    expect(stored().nextTryAt).toBe(NOON + restMs)
    world.advance(restMs - 1000)
    expect(orders()).toBe(1)
    world.advance(1000)
    await until(() => orders() === 2)
  })

  test('an authority that forgot the account: it is made again', async () => {
    await until(isDone)
    world.ca.forgetAccounts()
    world.advance(80 * DAY_MS)
    await until(() => state().expiresAt !== NOON + 90 * DAY_MS)
    expect(world.ca.accounts).toBe(1)
    await world.restart()
    world.advance(80 * DAY_MS)
    await until(() => orders() === 3)
    expect(world.ca.accounts).toBe(1)
  })

  test('an account that cannot be read any more: another is made', async () => {
    await until(isDone)
    for (const name of readdirSync(folder()).filter((one) => one.startsWith('account-')))
      writeFileSync(join(folder(), name), '{"directory":"')
    await world.restart()
    world.advance(80 * DAY_MS)
    await until(() => world.ca.accounts === 2)
    expect(world.app.lines.filter((line) => line.includes('cannot be used'))).not.toHaveLength(0)
  })
})

describe('what fails, with its reason', () => {
  const failing: [name: string, faults: Partial<AcmeFaults>, reason: string][] = [
    ['nonces that are never good', { badNonces: 1000 }, 'Not a nonce of ours'],
    ['an answer of 500', { failing: 1 }, 'The database is away'],
    ['no proof over HTTP', { challengeType: 'dns-01' }, 'offers no proof over HTTP'],
    ['a token that leads elsewhere', { token: '../../etc/passwd' }, 'a token that is none'],
    ['an account made elsewhere', { needsExternalAccount: true }, 'external account binding'],
    ['a chain for another key', { chain: 'other key' }, 'is for another key'],
    ['a chain for another host', { chain: 'other host' }, `does not name ${HOST}`],
    ['a chain whose parts do not hang together', { chain: 'loose' }, 'is not in one piece'],
    ['a chain of nothing', { chain: 'garbage' }, 'cannot be read'],
    ['a chain that has expired', { chain: 'expired' }, 'has expired already'],
    ['a chain of the future', { chain: 'not yet' }, 'is not valid yet; is the clock of this server right?'],
  ]
  test.each(failing)('%s', async (_name, faults, reason) => {
    Object.assign(world.ca.faults, faults)
    await until(isFailed)
    expect(state().error).toContain(reason)
    expect(world.certificates().all()).toEqual([])
    expect(world.app.lines.some((line) => line.includes('no certificate') && line.includes(reason))).toBe(
      true,
    )
    await world.restart()
    expect(state()).toMatchObject({ status: 'failed', error: expect.stringContaining(reason) })
  })

  test("the authority's own words, in one line and not endless", async () => {
    const detail = `CAA record for ${HOST} prevents issuance\r\n<script>alert(1)</script>${'x'.repeat(9000)}`
    world.ca.faults.refusals.set(HOST, { type: 'caa', detail })
    await until(isFailed)
    expect(state().error).toStartWith(`CAA record for ${HOST} prevents issuance <script>alert(1)</script>xxx`)
    expect(state().error?.length).toBe(501)
    expect(world.app.lines.join('')).not.toContain('\r')
  })

  test('an authority that is not there; nobody asks it again at once', async () => {
    await world.stop()
    // A port that the system gives to nobody.
    world = await acmeApp({ ACME_DIRECTORY: 'https://ca.test:1/directory' })
    await until(isFailed)
    expect(state().error).toStartWith('The certificate authority could not be asked.')
    world.advance(30_000)
    expect(stored().failures).toBe(1)
  })

  test('an authority in the local network is asked, and no rule reaches it', async () => {
    await until(isDone)
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
  test('Retry-After holds for everybody, over a restart', async () => {
    world.ca.faults.rateLimit = { retryAfter: String(3 * 60 * 60) }
    await until(isFailed)
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
    await until(isDone)
  })

  test('Retry-After as a date; an hour where nothing is said', async () => {
    world.ca.faults.rateLimit = { retryAfter: new Date(NOON + 2 * HOUR_MS).toUTCString() }
    await until(isFailed)
    expect(stored().blockedUntil).toBe(NOON + 2 * HOUR_MS)
    world.ca.faults.rateLimit = { retryAfter: null }
    world.advance(2 * HOUR_MS)
    await until(() => orders() === 2 && isFailed())
    expect(stored().blockedUntil).toBe(NOON + 3 * HOUR_MS)
  })

  test('a person may try again soon, and less soon each time', async () => {
    world.ca.faults.refusals.set(HOST, { type: 'connection', detail: 'Timeout during connect' })
    await until(isFailed)
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
  test('are answered to their own host and token alone, and only meanwhile', async () => {
    const asked: [string, string][] = []
    const { certificates } = world
    const own = certificates().challengeAnswer.bind(certificates())
    world.ca.faults.token = 'known-token_1'
    let during: (string | undefined)[] = []
    certificates().challengeAnswer = (host, token) => {
      asked.push([host, token])
      during = [
        own(host, token),
        own('www.example.com', 'known-token_1'),
        own(HOST, 'known-token_1/'),
        own(HOST, `../${HOST}/known-token_1`),
        own(`${HOST}/known-token_1`, ''),
        own(HOST, ''),
      ]
      return own(host, token)
    }
    await until(isDone)
    expect(asked).toEqual([[HOST, 'known-token_1']])
    expect(during).toEqual([expect.stringMatching(/^known-token_1\.[\w-]{43}$/), ...Array(5).fill(undefined)])
    expect(own(HOST, 'known-token_1')).toBeUndefined()
  })
})

describe('what is stored', () => {
  test('is sealed: no key can be read from the files', async () => {
    await until(isDone)
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
  test.each(damages)('%s is not loaded, and another is asked for', async (_name, damage) => {
    await until(isDone)
    const text = readFileSync(join(folder(), FILE), 'utf8')
    world.advance(80 * DAY_MS)
    await until(() => orders() === 2 && stored().expiresAt > NOON + 90 * DAY_MS)
    OTHER = JSON.stringify(stored().certPem)
    await world.certificates().stop()
    writeFileSync(join(folder(), FILE), damage(text))
    await world.restart()
    expect(world.certificates().all()).toEqual([])
    expect(world.app.lines.filter((line) => line.includes('cannot be used'))).toHaveLength(1)
    await until(isDone)
  })

  test('one sealed with a key that is gone is asked for anew; resealed ones need the old key no more', async () => {
    await until(isDone)
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
    await until(isDone)
  })

  test('another authority in the settings: the old certificate stays until the new one is there', async () => {
    await until(isDone)
    const path = join(folder(), FILE)
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replaceAll(world.ca.directory, 'https://old.test/directory'),
    )
    await world.restart()
    const before = world.certificates().all()[0]
    expect(before?.certPem).toBeString()
    await until(() => orders() === 2 && world.certificates().all()[0]?.certPem !== before?.certPem)
    expect(stored().issuer).toBe(world.ca.directory)
  })

  test('a missing folder is made', async () => {
    await until(isDone)
    await world.certificates().stop()
    rmSync(folder(), { recursive: true })
    await world.restart()
    await until(isDone)
    expect(orders()).toBe(2)
  })
})
