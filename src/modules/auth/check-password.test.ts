import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../../testing/seed.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

const OPEN = 'production--open--acme.localhost'
const VICTIM = 'ann@example.com'
const MALLORY = '203.0.113.9'
const ANN = '198.51.100.7'

let app: TestApp

beforeAll(async () => {
  app = await testApp({ FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'open',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  app.ctx.db.sqlite.run('UPDATE projects SET allow_public_signup = 1')
  await app.addUser(VICTIM)
})
afterAll(() => app.close())
beforeEach(() => app.advance(15 * 60 * 1000))

type Try = { email?: string; password?: string; from?: string; path?: string; host?: string }

async function attempt(one: Try = {}): Promise<number> {
  const { email = VICTIM, password = PASSWORD, from = MALLORY, path = '/api/auth/signin', host } = one
  return (await app.call('POST', path, { host, from, json: { email, password } })).status
}

async function fail(times: number, one: Try = {}): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < times; i++) statuses.push(await attempt({ password: `not this ${i}`, ...one }))
  return statuses
}

test('ten failures, then 429 with the right password too, for 15 minutes', async () => {
  expect(await fail(10)).toEqual(Array(10).fill(401))
  expect(await attempt()).toBe(429)
  const answer = await app.call('POST', '/api/auth/signin', {
    from: MALLORY,
    json: { email: 'ANN@example.com ', password: PASSWORD },
  })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '900'])
  app.advance(15 * 60 * 1000 - 1)
  expect(await attempt()).toBe(429)
  app.advance(1)
  expect(await attempt()).toBe(200)
})

test('nine failures do not lock', async () => {
  await fail(9)
  expect(await attempt()).toBe(200)
})

test('lockout by somebody else: the owner can still sign in from another address', async () => {
  await fail(12)
  expect(await attempt({ from: ANN })).toBe(200)
  expect(await attempt({ from: MALLORY })).toBe(429)
})

test('all addresses of an IPv6 network count as one', async () => {
  for (let host = 1; host <= 10; host++)
    await attempt({ password: 'not this', from: `2001:db8:1:2::${host}` })
  expect(await attempt({ from: '2001:db8:1:2::ffff' })).toBe(429)
  expect(await attempt({ from: '2001:db8:1:3::1' })).toBe(200)
})

test('another email at the same address is not locked', async () => {
  await app.addUser('bob@example.com')
  await fail(10)
  expect(await attempt({ email: 'bob@example.com' })).toBe(200)
})

test('enumeration: an unknown email locks like a known one', async () => {
  const unknown = { email: 'nobody@example.com' }
  expect(await fail(11, unknown)).toEqual([...Array(10).fill(401), 429])
})

test('wrong passwords at sign-up count, also where there is no site', async () => {
  const admin = await testApp()
  await admin.addUser('root@example.com', 'admin')
  await admin.addUser(VICTIM)
  const settings = { as: 'root@example.com', json: { allowPublicSignups: true } }
  expect((await admin.call('PATCH', '/api/settings', settings)).status).toBe(200)
  const ask = async (what: 'signup' | 'signin', password: string) =>
    (await admin.call('POST', `/api/auth/${what}`, { json: { email: VICTIM, password } })).status
  for (let i = 0; i < 12; i++) expect(await ask('signup', PASSWORD)).toBe(409)
  expect(await ask('signin', PASSWORD)).toBe(200)
  for (let i = 0; i < 10; i++) expect(await ask('signup', `not this ${i}`)).toBe(409)
  expect(await ask('signin', PASSWORD)).toBe(429)
  admin.close()
})

test('wrong passwords at sign-up count', async () => {
  expect(await fail(10, { path: '/api/auth/signup', host: OPEN })).toEqual(Array(10).fill(409))
  expect(await attempt()).toBe(429)
  expect(await attempt({ path: '/api/auth/signup', host: OPEN })).toBe(429)
})

test('enumeration: a locked pair cannot create an account either', async () => {
  const ghost = { email: 'ghost@example.com' }
  await fail(10, ghost)
  expect(await attempt({ ...ghost, path: '/api/auth/signup', host: OPEN })).toBe(429)
  app.advance(15 * 60 * 1000)
  expect(await attempt({ ...ghost, path: '/api/auth/signup', host: OPEN })).toBe(201)
})

describe('a burst of guesses at once', () => {
  test('gets ten responses at most; the rest are refused, even the right one', async () => {
    const guesses = Array.from({ length: 20 }, (_, i) => attempt({ password: `not this ${i}` }))
    const right = attempt()
    const statuses = await Promise.all(guesses)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    expect(await right).toBe(429)
  })
})
