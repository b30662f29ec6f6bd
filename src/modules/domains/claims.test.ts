import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { DAY_MS } from '../../domain/durations.ts'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { removeOldClaims } from './service.ts'

const HOST = 'www.example.com'
const ROOT = 'root@example.com'

type Claim = {
  id: string
  path: string
  verification: { name: string; value: string; url: string | null; verifiedAt: string | null; error: string }
}

let app: TestApp
let projects: string[]
const txt = new Map<string, string[]>()
/** Runs while the DNS is asked, once. */
let meanwhile: () => Promise<unknown> = async () => {}

beforeAll(async () => {
  const resolveTxt = async (name: string) => {
    const now = meanwhile
    meanwhile = async () => {}
    await now()
    return txt.get(name) ?? []
  }
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' }, { resolveTxt })
  await app.addUser(ROOT, 'admin')
  const seed = (repo: string, digit: string) =>
    seedDeployment(app, {
      owner: 'acme',
      repo,
      sha: digit.repeat(40),
      alias: 'production',
      files: { 'index.html': repo },
    })
  projects = [(await seed('docs', '1')).projectId, (await seed('shop', '2')).projectId]
})
afterAll(() => app.close())
afterEach(() => {
  txt.clear()
  app.ctx.db.sqlite.run('DELETE FROM domains')
  app.ctx.db.writes += 1
})

const create = (project: number, json: Record<string, unknown> = {}, as = SEED_OWNER) =>
  ask(app, 'POST', '/api/domains', {
    as,
    json: { projectId: projects[project], alias: 'production', hostname: HOST, ...json },
  })

async function claim(project: number): Promise<Claim> {
  const { body } = await create(project)
  return { ...(body as unknown as Claim), path: `/api/domains/${body['id']}` }
}

const verify = ({ path }: Claim, json: unknown = {}, as = SEED_OWNER) =>
  ask(app, 'POST', `${path}/verify`, { as, json })
const recordOf = async ({ path }: Claim) =>
  (await ask(app, 'GET', path, { as: SEED_OWNER })).body as unknown as Claim
const prove = ({ verification: { name, value } }: Claim) => txt.set(name, [...(txt.get(name) ?? []), value])

/** Every host answers with what `shown` returns, as this server does for a host that points to it. */
async function whileHostsAnswer<T>(shown: () => string, work: () => Promise<T>): Promise<T> {
  const { outbound } = app.ctx
  app.ctx.outbound = {
    ...outbound,
    request: async () => ({ status: 200, headers: [], body: new TextEncoder().encode(shown()) }),
  }
  try {
    return await work()
  } finally {
    app.ctx.outbound = outbound
  }
}

test('two projects may claim a host that nobody has proven, each with its own challenge', async () => {
  const [mine, theirs] = [await claim(0), await claim(1)]
  expect(mine.verification.value).not.toBe(theirs.verification.value)
  expect((await create(0)).status).toBe(409)
  expect((await app.call('GET', '/', { host: HOST })).status).toBe(421)
})

test('the first proof wins: the host serves, the other claim is 409 and says so, and no third can come', async () => {
  const [mine, theirs] = [await claim(0), await claim(1)]
  prove(theirs)
  prove(mine)
  expect((await verify(theirs)).body['verification']).toMatchObject({ method: 'txt', error: null })
  const lost = await verify(mine)
  expect([lost.status, lost.body['message']]).toEqual([409, expect.stringContaining(HOST)])
  const { verification } = await recordOf(mine)
  expect(verification).toMatchObject({ verifiedAt: null, error: lost.body['message'] })
  expect((await verify(mine, { verified: true }, ROOT)).status).toBe(409)
  expect((await ask(app, 'PATCH', mine.path, { as: ROOT, json: { verified: true } })).status).toBe(409)
  expect(await (await app.call('GET', '/', { host: HOST })).text()).toBe('shop')
  expect((await create(0, { verified: true }, ROOT)).status).toBe(409)

  await ask(app, 'DELETE', theirs.path, { as: SEED_OWNER })
  expect((await verify(mine)).body['verification']).toMatchObject({ method: 'txt', error: null })
})

test('a project that has no claim yet cannot map a host that another has proven', async () => {
  const mine = await claim(0)
  prove(mine)
  await verify(mine)
  expect((await create(1)).status).toBe(409)
})

test('two proofs at once: one wins, whichever started first', async () => {
  const [mine, theirs] = [await claim(0), await claim(1)]
  prove(mine)
  prove(theirs)
  let inner: { status: number } | undefined
  meanwhile = async () => {
    inner = await verify(theirs)
  }
  const outer = await verify(mine)
  expect([inner?.status, outer.status]).toEqual([200, 409])
  expect([
    (await recordOf(mine)).verification.verifiedAt,
    (await recordOf(theirs)).verification.verifiedAt,
  ]).toEqual([null, expect.any(String)])
  const many = await Promise.all(Array.from({ length: 8 }, (_, i) => verify(i % 2 === 0 ? mine : theirs)))
  expect(many.map(({ status }) => status)).toEqual([409, 200, 409, 200, 409, 200, 409, 200])
})

test('domain takeover: while two claim a host, what it serves proves nothing, and this server serves no challenge', async () => {
  const mine = await claim(0)
  const path = new URL(mine.verification.url ?? '').pathname
  expect((await app.call('GET', path, { host: HOST })).status).toBe(200)
  const theirs = await claim(1)
  expect((await app.call('GET', path, { host: HOST })).status).toBe(421)
  for (const one of [mine, theirs]) {
    const checked = await whileHostsAnswer(
      () => one.verification.value,
      () => verify(one),
    )
    expect([checked.status, checked.body['verification']]).toMatchObject([
      200,
      { verifiedAt: null, url: null, error: expect.stringContaining('only the TXT record') },
    ])
  }
  await ask(app, 'DELETE', theirs.path, { as: SEED_OWNER })
  const alone = await whileHostsAnswer(
    () => mine.verification.value,
    () => verify(mine),
  )
  expect(alone.body['verification']).toMatchObject({ method: 'http' })
})

test('domain takeover: a claim that comes while the host is asked counts too', async () => {
  const mine = await claim(0)
  meanwhile = () => claim(1)
  const checked = await whileHostsAnswer(
    () => mine.verification.value,
    () => verify(mine),
  )
  expect(checked.body['verification']).toMatchObject({
    verifiedAt: null,
    error: expect.stringContaining('only the TXT record'),
  })
})

test('a claim that was deleted while it was checked stays deleted', async () => {
  const mine = await claim(0)
  prove(mine)
  meanwhile = () => ask(app, 'DELETE', mine.path, { as: SEED_OWNER })
  expect((await verify(mine)).status).toBe(404)
})

test('claims older than 30 days are removed; proven ones and those below the base domain stay', async () => {
  const [old, young] = [await claim(0), await claim(1)]
  await create(0, { hostname: 'proven.example', verified: true }, ROOT)
  await create(0, { hostname: 'below.sites.test' })
  const age = (ms: number, of: string) =>
    app.ctx.db.sqlite.run(`UPDATE domains SET created_at = ${app.ctx.now() - ms} WHERE ${of}`)
  age(30 * DAY_MS + 1, `id <> '${young.id}'`)
  age(30 * DAY_MS, `id = '${young.id}'`)
  await removeOldClaims(app.ctx)
  const left = app.ctx.db.sqlite.query('SELECT hostname FROM domains ORDER BY 1').values()
  expect(left).toEqual([['below.sites.test'], ['proven.example'], [HOST]])
  expect((await recordOf(old)).id).toBeUndefined()
  expect((await recordOf(young)).id).toBe(young.id)
})
