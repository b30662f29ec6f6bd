import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ANSWER_FOLDER, CERT_FOLDER, certFolder } from '../../domain/store-keys.ts'
import { LIFETIME_MS } from '../../testing/acme-authority.ts'
import { type AcmeMachine, type AcmeMachines, acmeMachines } from '../../testing/acme-machines.ts'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { until } from '../../testing/until.ts'
import { emptyRecord } from './host-record.ts'
import { CertificateStore } from './store.ts'

/** contract 18 §2 and §6: certificates of several machines on one object store. */

const ADMIN = 'admin.sites.test'
const HOST = 'docs.sites.test'
const FILE = `host-${ADMIN}.json`

let world: AcmeMachines
let primary: AcmeMachine
beforeEach(async () => {
  world = acmeMachines()
  primary = await world.start('primary', 1)
  await untilActive(primary, ADMIN)
})
afterEach(() => world.stop())

const pemsOf = ({ certificates }: AcmeMachine) => certificates.all().map(({ certPem }) => certPem)
const hostsOf = ({ certificates }: AcmeMachine) => certificates.all().flatMap(({ hosts }) => hosts)
const untilActive = ({ certificates }: AcmeMachine, host: string) =>
  until(`the certificate of ${host}`, () => certificates.stateOf(host).status === 'active')
const folderOf = ({ app }: AcmeMachine) => join(app.ctx.config.dataDir, 'certs')
const storeOf = ({ app: { ctx }, objects }: AcmeMachine) =>
  new CertificateStore(ctx.config.dataDir, ctx.secrets, objects)

async function addDomain({ app }: AcmeMachine, hostname: string): Promise<unknown> {
  const files = { 'index.html': 'home' }
  const deployment = { owner: 'acme', repo: 'docs', sha: '1'.repeat(40), alias: 'production', files }
  const { projectId } = await seedDeployment(app, deployment)
  app.ctx.db.sqlite.run('UPDATE projects SET is_public = 0')
  const json = { projectId, hostname, alias: 'production' }
  const { status, body } = await ask(app, 'POST', '/api/domains', { as: SEED_OWNER, json })
  expect(status).toBe(201)
  return body['id']
}

/** What the log of the primary brings into another machine's database. */
function follow(from: AcmeMachine, to: AcmeMachine): void {
  const rows = from.app.ctx.db.sqlite
    .query<Record<string, string>, []>("SELECT * FROM audit_log WHERE action LIKE 'certificate.%'")
    .all()
  for (const row of rows)
    to.app.ctx.db.sqlite
      .query(
        `INSERT OR IGNORE INTO audit_log (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => '?')})`,
      )
      .run(...Object.values(row))
  to.app.ctx.db.writes += 1
}

const byHost = (a: { host: string }, b: { host: string }) => a.host.localeCompare(b.host)

describe('the store', () => {
  test('has each file once, as it is on the disk: keys are sealed', async () => {
    const names = readdirSync(folderOf(primary)).sort()
    expect(names).toHaveLength(2)
    const keys = world.keys(CERT_FOLDER)
    expect(keys.map((key) => key.split('/')[1])).toEqual(names)
    for (const [i, name] of names.entries()) {
      const bytes = Buffer.from(world.server.objects.get(keys[i] ?? '')?.bytes ?? '')
      expect(bytes.equals(Buffer.from(await Bun.file(join(folderOf(primary), name)).bytes()))).toBe(true)
      expect(bytes.includes('PRIVATE KEY')).toBe(false)
      expect(bytes.includes('"keySealed"')).toBe(true)
    }
  })

  test('has no certificate of a host that needs none any more', async () => {
    const id = await addDomain(primary, HOST)
    await untilActive(primary, HOST)
    expect(world.keys(certFolder(`host-${HOST}.json`))).toHaveLength(1)
    await ask(primary.app, 'DELETE', `/api/domains/${id}`, { as: SEED_OWNER })
    await until('the removal', () => world.keys(certFolder(`host-${HOST}.json`)).length === 0)
    expect(world.keys(certFolder(FILE))).toHaveLength(1)
  })

  test('gets what a data directory has and it lacks, and nothing is ordered again', async () => {
    const before = pemsOf(primary)
    for (const key of world.keys(CERT_FOLDER)) world.server.objects.delete(key)
    await primary.become('primary', 2)
    await until('the files', () => world.keys(CERT_FOLDER).length === 2)
    expect([pemsOf(primary), world.ca.ordered]).toEqual([before, [ADMIN]])
  })
})

describe('another machine', () => {
  test('takes over with an empty data directory: it serves what there is, orders nothing and has the account', async () => {
    const before = pemsOf(primary)
    await primary.become('standby', 2)
    const second = await world.start('primary', 2)
    await until('the certificate', () => pemsOf(second).length === 1)
    expect(pemsOf(second)).toEqual(before)
    world.advance((LIFETIME_MS / 3) * 2)
    world.asked = second
    await until('the renewal', () => pemsOf(second)[0] !== before[0])
    expect([world.ca.ordered, world.ca.accounts]).toEqual([[ADMIN, ADMIN], 1])
    expect(world.keys(certFolder(FILE))).toEqual([expect.stringMatching(/\/0{15}2-0{15}\d$/)])
  })

  test('has a new certificate within seconds, when the log tells of it, and tells its listeners', async () => {
    const follower = await world.start('standby', 1)
    await until('the certificate', () => hostsOf(follower).length === 1)
    let changes = 0
    follower.certificates.onChange(() => changes++)
    await addDomain(primary, HOST)
    await untilActive(primary, HOST)
    await until('the entry', () => audited(primary).length === 2)
    follow(primary, follower)
    await until('the certificate here', () => hostsOf(follower).includes(HOST), 5_000)
    expect([hostsOf(follower).sort(), changes]).toEqual([[ADMIN, HOST], 1])
    expect(follower.certificates.stateOf(HOST).status).toBe('active')
    expect(follower.certificates.list().sort(byHost)).toEqual(primary.certificates.list().sort(byHost))
    expect(follower.certificates.retryWildcard()).rejects.toMatchObject({ code: 'NOT_PRIMARY' })
  })

  test('orders and stores nothing', async () => {
    const follower = await world.start('node', 1)
    await until('the certificate', () => hostsOf(follower).length === 1)
    const before = world.server.requests.length
    world.advance(LIFETIME_MS * 2)
    expect(follower.certificates.tryNow(ADMIN)).rejects.toMatchObject({ code: 'NOT_PRIMARY' })
    await until('the renewal', () => world.ca.ordered.length === 2)
    const written = world.server.requests
      .slice(before)
      .filter(({ method, headers }) => method !== 'GET' && headers.get('x-amz-meta-svc-writer') === 'w1')
    expect(written).toEqual([])
    expect(readdirSync(folderOf(follower)).sort()).toEqual(readdirSync(folderOf(primary)).sort())
  })

  test('keeps for the primary which hosts were visited, and no more than it orders', async () => {
    const { certificates } = await world.start('standby', 1)
    for (let i = 0; i < 60; i++) certificates.visited(`pr-${i % 55}--docs--acme.sites.test`)
    const visited = certificates.takeVisited()
    expect([visited.length, visited[1]]).toEqual([50, 'pr-1--docs--acme.sites.test'])
    expect(certificates.takeVisited()).toEqual([])
  })

  test('serves its copies while the store is away', async () => {
    const follower = await world.start('standby', 1)
    await until('the certificate', () => hostsOf(follower).length === 1)
    world.server.fault = () => ({ status: 503, code: 'SlowDown' })
    await follower.become('standby', 1)
    expect(hostsOf(follower)).toEqual([ADMIN])
    await until('the reason in the log', () =>
      follower.app.lines.some((line) => line.includes('could not be read from the object store')),
    )
  })

  test('a primary orders nothing before it has read the store', async () => {
    world.server.fault = ({ query }) => (query.get('prefix') === CERT_FOLDER ? { status: 500 } : undefined)
    const second = await world.start('primary', 2)
    await until('the reason in the log', () =>
      second.app.lines.some((line) => line.includes('could not be read from the object store')),
    )
    second.certificates.hostsChanged()
    expect([hostsOf(second), world.ca.ordered]).toEqual([[], [ADMIN]])
    world.server.fault = () => undefined
    await until('the certificate', () => hostsOf(second).length === 1)
    expect(world.ca.ordered).toEqual([ADMIN])
  })

  test('a machine that does not know yet that it is deposed hides nothing of its successor', async () => {
    const second = await world.start('primary', 2)
    await until('the certificate', () => hostsOf(second).length === 1)
    const [record] = storeOf(second).readHosts(second.app.ctx.log)
    await storeOf(second).saveHost(record ?? emptyRecord(ADMIN))
    const newest = world.keys(certFolder(FILE)).at(-1) ?? ''
    await storeOf(primary).saveHost({ ...emptyRecord(ADMIN), failures: 3 })
    await storeOf(primary).removeHost(ADMIN)
    expect((await second.objects.newest()).get(FILE)).toBe(newest)
    expect(world.server.objects.has(newest)).toBe(true)
  })
})

describe('a challenge', () => {
  test('is answered by any machine, only for its host and token and during the order', async () => {
    const follower = await world.start('node', 1)
    world.asked = follower
    world.ca.faults.token = 'known-token_1'
    const before = pemsOf(primary)
    world.advance((LIFETIME_MS / 3) * 2)
    await until('the answer in the store', () => world.keys(ANSWER_FOLDER).length === 1)
    const said = (host: string, token: string) => follower.certificates.challengeAnswer(host, token)
    expect(await said(ADMIN, 'another-token')).toBeUndefined()
    expect(await said('www.example.com', 'known-token_1')).toBeUndefined()
    await until('the renewal', () => pemsOf(primary)[0] !== before[0])
    await until('the end of the answer', () => world.keys(ANSWER_FOLDER).length === 0)
    expect(await said(ADMIN, 'known-token_1')).toBeUndefined()
  })

  test('abuse: a thousand strangers cost a few looks into the store', async () => {
    const follower = await world.start('node', 1)
    const before = world.server.requests.length
    const asked = Array.from({ length: 1_000 }, (_, i) =>
      follower.certificates.challengeAnswer(ADMIN, `t${i}`),
    )
    expect(new Set(await Promise.all(asked))).toEqual(new Set([undefined]))
    expect(world.server.requests.length - before).toBeLessThan(10)
  })

  test('answers that a crash left are removed', async () => {
    await primary.objects.answer(HOST, 'left', 'left.thumb')
    expect(world.keys(ANSWER_FOLDER)).toHaveLength(1)
    await primary.become('primary', 2)
    await until('the removal', () => world.keys(ANSWER_FOLDER).length === 0)
  })
})

describe('while the store is away', () => {
  test('nothing is ordered and the old certificate stays; it is renewed afterwards', async () => {
    const before = pemsOf(primary)
    primary.app.log.state = 'away'
    world.advance((LIFETIME_MS / 3) * 2)
    await Bun.sleep(0)
    expect([pemsOf(primary), world.ca.ordered]).toEqual([before, [ADMIN]])
    primary.app.log.state = 'up'
    world.advance(0)
    await until('the renewal', () => pemsOf(primary)[0] !== before[0])
    expect(world.ca.ordered).toEqual([ADMIN, ADMIN])
  })

  test('what was issued nevertheless is served, and stored when the store takes it', async () => {
    const before = pemsOf(primary)
    let puts = 0
    world.server.fault = ({ method, key }) => {
      if (method !== 'PUT' || !key.startsWith(certFolder(FILE))) return undefined
      puts += 1
      return puts === 1 ? undefined : { status: 403, code: 'AccessDenied' }
    }
    world.advance((LIFETIME_MS / 3) * 2)
    await until('the renewal', () => pemsOf(primary)[0] !== before[0])
    expect(hostsOf(primary)).toEqual([ADMIN])
    world.server.fault = () => undefined
    world.advance(0)
    await until('the certificate in the store', () => storedPem() === pemsOf(primary)[0])
    expect(world.ca.ordered).toEqual([ADMIN, ADMIN])
  })

  test('a failure says that it is the store', async () => {
    world.server.fault = ({ method }) =>
      method === 'PUT' ? { status: 403, code: 'AccessDenied' } : undefined
    await addDomain(primary, HOST)
    const error = () => primary.certificates.stateOf(HOST).error
    await until('the failure', () => primary.certificates.stateOf(HOST).status === 'failed')
    expect(error()).toStartWith('The object store does not take certificates')
    expect(world.ca.ordered).toEqual([ADMIN])
  })
})

test('a file in the store that cannot be used is ordered again', async () => {
  await primary.become('standby', 1)
  await primary.objects.save(FILE, Buffer.from('{"host":'))
  const second = await world.start('primary', 2)
  world.asked = second
  await until('the certificate', () => hostsOf(second).length === 1)
  expect(world.ca.ordered).toEqual([ADMIN, ADMIN])
})

test('a stand-by removes what the store has no more', async () => {
  const follower = await world.start('standby', 1)
  await until('the certificate', () => hostsOf(follower).length === 1)
  writeFileSync(join(folderOf(follower), 'host-old.sites.test.json'), '{}')
  await follower.become('standby', 1)
  await until('the removal', () => readdirSync(folderOf(follower)).length === 2)
})

const storedPem = (): string => {
  const bytes = world.server.objects.get(world.keys(certFolder(FILE)).at(-1) ?? '')?.bytes
  return JSON.parse(new TextDecoder().decode(bytes)).certPem
}
const audited = ({ app }: AcmeMachine) =>
  app.ctx.db.sqlite.query("SELECT 1 FROM audit_log WHERE action LIKE 'certificate.%'").all()
