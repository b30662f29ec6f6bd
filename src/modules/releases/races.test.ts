import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { type Files, holdChecks, sendContents, UPLOADS, upload } from './releases.fixture.ts'
import { runChecks } from './run.ts'

/** What happens while the checks of a release run. contract 13 §8. */
let app: TestApp
let seeded: Seeded
beforeEach(async () => {
  app = await testApp()
  seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'web',
    sha: 'f'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'old' },
  })
  // What answers more than files is loaded with the first request that needs it.
  await call('GET', '/api/projects')
})
afterEach(() => app.close())

const call = (method: string, path: string, json?: unknown) =>
  ask(app, method, path, { as: SEED_OWNER, ...(json === undefined ? {} : { json }) })
const sha = (digit: string): string => digit.repeat(40)
const site = (text: string): Files => ({
  'index.html': text,
  '.svc/checks.yaml': `checks: [{ path: /, contains: ${text} }]`,
})
const publish = (text: string, commitSha: string, fields = {}) =>
  upload(app, site(text), { commitSha, alias: 'production', ...fields })
const shown = async () =>
  (await app.call('GET', '/', { host: 'production--web--acme.localhost', as: SEED_OWNER })).text()

/** Publishes, and does something while its checks run. */
async function meanwhile(work: () => Promise<unknown>) {
  const hold = holdChecks(app)
  const publishing = publish('new', sha('1'))
  await hold.reached
  await work()
  hold.release()
  return publishing
}

test('two uploads: the one that is done first stays, the other is overtaken', async () => {
  const hold = holdChecks(app, 2)
  const [one, two] = [publish('one', sha('1')), publish('two', sha('2'))]
  await hold.reached
  hold.release()
  const done = [await one, await two].map(({ body }) => body.release?.status)
  expect(done.toSorted()).toEqual(['overtaken', 'passed'])
  expect(await shown()).toBe(done[0] === 'passed' ? 'one' : 'two')
})

test('a person locks the alias', async () => {
  const { body } = await meanwhile(() => call('PATCH', `/api/aliases/${seeded.aliasId}`, { isLocked: true }))
  expect([body.release?.status, body.published, await shown()]).toEqual(['locked', false, 'old'])
})

test('a person changes a setting: that is no move', async () => {
  const { body } = await meanwhile(() => call('PATCH', `/api/aliases/${seeded.aliasId}`, { isSpa: false }))
  expect([body.release?.status, await shown()]).toEqual(['passed', 'new'])
})

test('a person moves it there and back: it stays where they put it', async () => {
  const { body } = await meanwhile(async () => {
    const path = `/api/aliases/${seeded.aliasId}`
    await call('PATCH', path, { commitSha: sha('1') })
    expect((await call('POST', `${path}/rollback`, {})).status).toBe(200)
  })
  expect([body.release?.status, body.published, await shown()]).toEqual(['overtaken', false, 'old'])
})

test('a person deletes the alias', async () => {
  const { status, body } = await meanwhile(() => call('DELETE', `/api/aliases/${seeded.aliasId}`))
  expect([status, body.release?.status, body.published]).toEqual([201, 'overtaken', false])
  const { body: left } = await call('GET', `/api/aliases?projectId=${seeded.projectId}`)
  expect(left['data']).toEqual([])
})

test('somebody makes the alias that the upload would have made', async () => {
  const hold = holdChecks(app)
  const publishing = publish('new', sha('1'), { alias: 'fresh' })
  await hold.reached
  const made = { projectId: seeded.projectId, name: 'fresh', deploymentId: seeded.deploymentId }
  expect((await call('POST', '/api/aliases', made)).status).toBe(201)
  hold.release()
  expect((await publishing).body.release?.status).toBe('overtaken')
})

test('the project is deleted: 404, and nothing is left', async () => {
  const { status } = await meanwhile(() => call('DELETE', `/api/projects/${seeded.projectId}`))
  expect(status).toBe(404)
})

test('the deployment is deleted: 404', async () => {
  const { status } = await meanwhile(async () => {
    const { body } = await call('GET', `/api/deployments?commitSha=${sha('1')}`)
    const [deployment] = body['data'] as { id: string }[]
    expect((await call('DELETE', `/api/deployments/${deployment?.id}`)).status).toBe(204)
  })
  expect([status, await shown()]).toEqual([404, 'old'])
})

test('an append to the commit makes the next version: what was checked goes live', async () => {
  const { body } = await meanwhile(async () => {
    const fields = { commitSha: sha('1'), append: 'true' }
    const appended = await upload(app, { 'index.html': 'unchecked' }, fields)
    expect(appended.body.deployment).toMatchObject({ version: 2 })
  })
  expect([body.release?.status, await shown()]).toEqual(['passed', 'new'])
})

test('the contents of a delta upload sent twice: both answers tell the same release', async () => {
  const files = site('new')
  const entries = Object.entries(files).map(([path, text]) => ({
    path,
    sha256: Bun.SHA256.hash(text, 'hex'),
    size: text.length,
  }))
  const fields = { repository: 'acme/web', commitSha: sha('1'), alias: 'production', files: entries }
  const { uploadId } = (await call('POST', '/api/deployments/manifest', fields)).body as { uploadId: string }
  const hold = holdChecks(app)
  const first = sendContents(app, uploadId, files)
  await hold.reached
  const second = sendContents(app, uploadId, files)
  hold.release()
  const [a, b] = [await first, await second]
  expect(a.body.release?.status).toBe('passed')
  expect([b.status, b.body.release, b.body.published]).toEqual([201, a.body.release, true])
})

test('the contents of a delta upload whose release a crash left undecided: checked again', async () => {
  const by = UPLOADS['manifest']
  const { body } = (await by?.(app, site('new'), { commitSha: sha('1') })) ?? {}
  const { sqlite } = app.ctx.db
  const row = sqlite.query<{ id: string; manifest: string }, []>('SELECT id, manifest FROM uploads').get()
  const manifest = JSON.parse(row?.manifest ?? '')
  manifest.publication.alias = 'production'
  sqlite.run('UPDATE uploads SET manifest = ?, release = ?', [
    JSON.stringify(manifest),
    JSON.stringify({ status: 'undecided' }),
  ])
  app.ctx.db.writes += 1
  const again = await sendContents(app, row?.id ?? '', {})
  expect([again.status, again.body.release?.status, await shown()]).toEqual([201, 'passed', 'new'])
  expect(again.body.deployment?.id).toBe(body?.deployment?.id ?? '')
})

test('what is not done in time has failed', async () => {
  const check = { name: null, path: '/', status: 200, contains: null, maxBytes: null }
  const never = () => new Promise<never>(() => {})
  const results = await runChecks(
    { before: undefined, after: never },
    { startPage: true, checks: [check, check] },
    50,
  )
  expect(results.map(({ ok, message }) => [ok, message])).toEqual([
    [false, 'was not done within the 0.05 s that all checks have'],
    [false, 'was not done within the 0.05 s that all checks have'],
  ])
})
