import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { type AcmeApp, acmeApp } from '../../testing/acme-app.ts'
import { LIFETIME_MS } from '../../testing/acme-authority.ts'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { NOON } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'

const ADMIN_HOST = 'admin.sites.test'
const HOST = 'docs.sites.test'

let world: AcmeApp
let projectId: string

beforeEach(async () => {
  world = await acmeApp()
  projectId = await seed('docs')
  showProjects(false)
  await untilActive(ADMIN_HOST)
})
afterEach(() => world.stop())

const seed = async (repo: string): Promise<string> => {
  const files = { 'index.html': 'home' }
  const deployment = { owner: 'acme', repo, sha: '1'.repeat(40), alias: 'production', files }
  return (await seedDeployment(world.app, deployment)).projectId
}
const showProjects = (isPublic: boolean) =>
  world.app.ctx.db.sqlite.run('UPDATE projects SET is_public = ?', [isPublic ? 1 : 0])
const stateOf = (host: string) => world.certificates().stateOf(host)
const failedOnce = (host: string) => stateOf(host).status === 'failed'
const untilActive = (host: string) =>
  until(`the certificate of ${host}`, () => stateOf(host).status === 'active')
const untilFailed = (host: string) => until(`the failure of ${host}`, () => failedOnce(host))
const all = () => world.certificates().all()
const hosts = () => all().flatMap(({ hosts: names }) => names)
const untilServed = (count: number) => until(`${count} hosts`, () => hosts().length === count)
const add = (hostname: string, project = projectId) =>
  ask(world.app, 'POST', '/api/domains', {
    as: SEED_OWNER,
    json: { projectId: project, hostname, alias: 'production' },
  })
const remove = (id: unknown) => ask(world.app, 'DELETE', `/api/domains/${id}`, { as: SEED_OWNER })
const orders = (host: string) => world.ca.ordered.filter((one) => one === host).length
const folder = () => join(world.app.ctx.config.dataDir, 'certs')
const textOf = (name: string) => readFileSync(join(folder(), name), 'utf8')
const audited = () =>
  world.app.ctx.db.sqlite
    .query<{ action: string; target_id: string }, []>(
      "SELECT action, target_id FROM audit_log WHERE action LIKE 'certificate.%' ORDER BY at, id",
    )
    .all()
    .map(({ action, target_id }) => `${action} ${target_id}`)

describe('which hosts get a certificate', () => {
  test('the admin host first, then each new domain, with one account', async () => {
    const { body } = await add(HOST)
    expect(body['certificate']).toMatchObject({ expiresAt: null, error: null })
    await untilActive(HOST)
    expect(stateOf(HOST)).toEqual({ status: 'active', expiresAt: NOON + LIFETIME_MS, error: null })
    expect(hosts()).toEqual([ADMIN_HOST, HOST])
    for (const { certPem, keyPem, hosts: names } of all()) {
      const leaf = new X509Certificate(certPem)
      expect([leaf.subjectAltName, certPem.match(/BEGIN/g)?.length]).toEqual([`DNS:${names[0]}`, 2])
      expect(keyPem).toStartWith('-----BEGIN PRIVATE KEY-----')
    }
    expect(world.ca.accounts).toBe(1)
    expect(audited()).toEqual([`certificate.issue ${ADMIN_HOST}`, `certificate.issue ${HOST}`])
    expect(world.app.lines.filter((line) => line.includes('certificate issued'))).toHaveLength(2)
  })

  test('abuse: an unproven domain gets none, whatever is requested', async () => {
    const { body } = await add('www.example.com')
    const asked = await ask(world.app, 'POST', `/api/domains/${body['id']}/certificate`, { as: SEED_OWNER })
    expect([asked.status, asked.body['message']]).toEqual([
      409,
      'www.example.com gets a certificate once it is verified',
    ])
    world.certificates().visited('www.example.com')
    await expect(world.certificates().tryNow('www.example.com')).rejects.toThrow('once it is verified')
    await world.restart()
    world.advance(DAY_MS)
    expect([orders('www.example.com'), stateOf('www.example.com').status]).toEqual([0, 'pending'])
  })

  test.each([
    ['localhost', 'the local machine'],
    ['a.localhost', 'the local machine'],
    ['127.0.0.1', 'IP addresses cannot'],
    ['[::1]', 'IP addresses cannot'],
    ['nas', 'a local network name'],
  ])('%s cannot have one, and the error says why', async (host, why) => {
    expect(stateOf(host)).toMatchObject({ status: 'failed', error: expect.stringContaining(why) })
    await expect(world.certificates().tryNow(host)).rejects.toThrow(why)
    expect(orders(host)).toBe(0)
  })

  test('a first certificate is active once the listener serves it', async () => {
    await untilActive(ADMIN_HOST)
    const served = Promise.withResolvers<void>()
    const taken = Promise.withResolvers<void>()
    world.certificates().onChange(() => {
      taken.resolve()
      return served.promise
    })
    await add(HOST)
    await taken.promise
    expect(hosts()).toContain(HOST)
    expect(stateOf(HOST)).toEqual({ status: 'pending', expiresAt: null, error: null })
    served.resolve()
    await untilActive(HOST)
  })

  test('a deleted domain loses its certificate, on disk too', async () => {
    const { body } = await add(HOST)
    await untilActive(HOST)
    let changes = 0
    world.certificates().onChange(() => changes++)
    await remove(body['id'])
    expect([hosts(), changes]).toEqual([[ADMIN_HOST], 1])
    await world.certificates().stop()
    expect(readdirSync(folder()).filter((name) => name.startsWith('host-'))).toEqual([
      `host-${ADMIN_HOST}.json`,
    ])
  })

  test('a domain deleted during its order gets none', async () => {
    world.ca.faults.processing = 1000
    const { body } = await add(HOST)
    await until('the order', () => orders(HOST) === 1)
    await remove(body['id'])
    await world.certificates().stop()
    expect([hosts(), existing(HOST)]).toEqual([[ADMIN_HOST], false])
    expect(audited()).toEqual([`certificate.issue ${ADMIN_HOST}`])
  })

  test("a project with very many new hosts does not delay others or use up the authority's limits", async () => {
    const other = await seed('shop')
    showProjects(false)
    world.ca.faults.rateLimit = { retryAfter: null }
    await add('first.sites.test')
    await untilFailed('first.sites.test')
    for (let i = 0; i < 21; i++) await add(`many-${i}.sites.test`)
    await add('shop.sites.test', other)
    world.ca.faults.rateLimit = null
    world.advance(2 * MINUTE_MS)
    await untilServed(21)
    expect(orders('shop.sites.test')).toBe(1)
    expect(hosts()).toContain('shop.sites.test')
    world.advance(MINUTE_MS)
    expect(hosts()).toHaveLength(21)
    world.advance(HOUR_MS)
    await untilServed(24)
  })

  test('abuse: adding and deleting domains endlessly leaves places for other projects', async () => {
    const other = await seed('shop')
    showProjects(false)
    const ids: unknown[] = []
    for (let i = 0; i < 20; i++) ids.push((await add(`gone-${i}.sites.test`)).body['id'])
    await untilServed(21)
    for (const id of ids) await remove(id)
    await add('more.sites.test')
    await add('shop.sites.test', other)
    await untilActive('shop.sites.test')
    expect(hosts().toSorted()).toEqual([ADMIN_HOST, 'shop.sites.test'])
    world.advance(HOUR_MS)
    await untilActive('more.sites.test')
  })
})

test('failures recorded while the clock was a year ahead do not delay anybody for a year', async () => {
  await add(HOST)
  await untilActive(HOST)
  world.ca.faults.rateLimit = { retryAfter: null }
  world.advance(365 * DAY_MS)
  await until('both failures', () => stateOf(HOST).error !== null && stateOf(ADMIN_HOST).error !== null)
  world.ca.faults.rateLimit = null
  world.advance(-304 * DAY_MS)
  await until(
    'both renewals',
    () => hosts().length === 2 && all().every(({ expiresAt }) => expiresAt > NOON + LIFETIME_MS),
  )
  expect([stateOf(HOST).status, stateOf(ADMIN_HOST).status]).toEqual(['active', 'active'])
  await world.certificates().tryNow(HOST)
})

const existing = (host: string) => readdirSync(folder()).includes(`host-${host}.json`)

describe('alias hosts', () => {
  const hostOf = (alias: string) => `${alias}--docs--acme.sites.test`
  const ALIAS = hostOf('production')
  const addAlias = (name: string) =>
    ask(world.app, 'POST', '/api/aliases', {
      as: SEED_OWNER,
      json: { projectId, name, commitSha: '1'.repeat(40) },
    })

  test('public ones get a certificate automatically, few at a time and the oldest first', async () => {
    for (let i = 0; i < 5; i++) await addAlias(`pr-${i}`)
    showProjects(true)
    world.app.ctx.db.sqlite.run("UPDATE aliases SET is_public = 0 WHERE name = 'pr-0'")
    world.advance(0)
    await untilServed(4)
    world.advance(HOUR_MS - 1)
    expect(hosts().slice(1)).toEqual([ALIAS, hostOf('pr-1'), hostOf('pr-2')])
    world.advance(1)
    await untilServed(6)
    expect(hosts()).not.toContain(hostOf('pr-0'))
  })

  test('others get one when they are visited, and lose it with their alias', async () => {
    expect(orders(ALIAS)).toBe(0)
    world.certificates().visited(ALIAS)
    await untilActive(ALIAS)
    await world.restart()
    await until('the stored certificate', () => hosts().includes(ALIAS))
    world.app.ctx.db.sqlite.run('DELETE FROM host_labels WHERE alias_id IS NOT NULL')
    world.advance(0)
    expect(hosts()).toEqual([ADMIN_HOST])
  })

  test('abuse: visits to hosts of deployments, unknown, deeper or foreign hosts order no certificate', () => {
    const wrong = [
      '111111111111--docs--acme.sites.test',
      'nothing--docs--acme.sites.test',
      `x.${ALIAS}`,
      'production--docs--acme.example.com',
      'sites.test',
    ]
    for (const host of wrong) world.certificates().visited(host)
    world.advance(0)
    expect(world.ca.ordered).toEqual([ADMIN_HOST])
  })

  test('abuse: six per hour, however many are visited', async () => {
    const visited = Array.from({ length: 8 }, (_, i) => hostOf(`pr-${i}`))
    for (let i = 0; i < 8; i++) await addAlias(`pr-${i}`)
    const visit = () => {
      for (const host of visited) world.certificates().visited(host)
    }
    visit()
    await untilServed(7)
    visit()
    expect(world.ca.ordered).toHaveLength(7)
    await world.restart()
    visit()
    world.advance(HOUR_MS + 1)
    visit()
    await untilServed(9)
  })
})

describe('renewal', () => {
  test('happens with a third of the lifetime left; the old certificate is served until then', async () => {
    const [before] = all()
    world.advance((LIFETIME_MS / 3) * 2 - 1000)
    expect(orders(ADMIN_HOST)).toBe(1)
    world.advance(1000)
    expect(all()).toEqual(before === undefined ? [] : [before])
    await until('the renewal', () => all()[0]?.certPem !== before?.certPem)
    expect(stateOf(ADMIN_HOST).expiresAt).toBe(NOON + (LIFETIME_MS / 3) * 2 + LIFETIME_MS)
    expect(audited()[1]).toBe(`certificate.renew ${ADMIN_HOST}`)
    expect(world.ca.accounts).toBe(1)
  })

  test('while the authority is unreachable the old certificate stays, with the reason; it is renewed afterwards', async () => {
    world.ca.faults.failing = 100
    world.advance((LIFETIME_MS / 3) * 2)
    await until('the failure', () => stateOf(ADMIN_HOST).error !== null)
    expect(stateOf(ADMIN_HOST)).toMatchObject({ status: 'active', error: 'The database is away' })
    expect(all()).toHaveLength(1)
    world.ca.faults.failing = 0
    world.advance(HOUR_MS)
    await until('the renewal', () => stateOf(ADMIN_HOST).error === null)
    expect(orders(ADMIN_HOST)).toBe(2)
  })

  test('an expired certificate is shown as expired, and is ordered again', async () => {
    world.ca.faults.failing = 100
    world.advance(LIFETIME_MS)
    await until('the failure', () => stateOf(ADMIN_HOST).error !== null)
    expect(stateOf(ADMIN_HOST).status).toBe('expired')
    world.ca.faults.failing = 0
    world.advance(DAY_MS)
    await untilActive(ADMIN_HOST)
  })
})

describe('a restart', () => {
  test('loads stored certificates and orders nothing', async () => {
    const before = all()
    await world.restart()
    expect(all()).toEqual(before)
    world.advance(HOUR_MS)
    expect(world.ca.ordered).toEqual([ADMIN_HOST])
  })

  test('keeps the growing waits after failures', async () => {
    world.ca.faults.refusals.set(HOST, { type: 'dns', detail: 'no such name' })
    await add(HOST)
    await untilFailed(HOST)
    const nextTry = () => JSON.parse(textOf(`host-${HOST}.json`)).nextTryAt as number
    await until('the next try to be stored', () => nextTry() > world.app.ctx.now() + MINUTE_MS)
    const waits = [nextTry() - world.app.ctx.now()]
    for (let i = 2; i <= 4; i++) {
      await world.restart()
      world.advance((waits.at(-1) ?? 0) - 1)
      expect(orders(HOST)).toBe(i - 1)
      world.advance(1)
      await until(`failure ${i}`, () => orders(HOST) === i && failedOnce(HOST))
      await until(`failure ${i} to be stored`, () => JSON.parse(textOf(`host-${HOST}.json`)).failures === i)
      waits.push(nextTry() - world.app.ctx.now())
    }
    for (const [i, wait] of waits.entries()) {
      const plain = 5 * MINUTE_MS * 2 ** i
      expect([wait >= plain * 0.8, wait <= plain * 1.2]).toEqual([true, true])
    }
  })
})
