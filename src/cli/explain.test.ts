import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { explainCommand } from './explain.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

let fixture: ProxyFixture
let key: string
beforeAll(async () => {
  fixture = await proxyFixture({ ADMIN_HOST: 'localhost' })
  await fixture.app.addUser('root@example.com', 'admin')
  const made = await ask(fixture.app, 'POST', '/api/api-keys', {
    as: 'root@example.com',
    json: { name: 'ci', projectId: fixture.site.projectId },
  })
  key = String(made.body['key'])
})
afterAll(() => fixture.close())

async function run(args: string[], env: Record<string, string> = {}) {
  const io = testIo({
    cwd: '/',
    env: { SVC_API_URL: `http://127.0.0.1:${fixture.port}`, SVC_API_KEY: key, ...env },
  })
  const code = await runCommand(
    { explain: () => Promise.resolve(explainCommand) },
    ['explain', ...args],
    io,
    'explain',
  )
  return { code, stdout: io.out(), stderr: io.err() }
}

test('-H adds headers, which may hold commas, and no credentials', async () => {
  const url = `http://${fixture.site.aliasHost}/`
  const headers = ['-H', 'Accept-Language: de, en;q=0.5', '-H', 'Cookie: a=1']
  expect((await run([url, ...headers])).code).toBe(0)
  for (const bad of ['Authorization: x', 'nonsense']) expect((await run([url, '-H', bad])).code).toBe(2)
})

test('says each step on a line of its own, or all as JSON', async () => {
  const url = `http://${fixture.site.aliasHost}/`
  const { code, stdout } = await run([url])
  expect([code, stdout.split('\n').map((line) => line.split(' ')[0])]).toEqual([
    0,
    ['host', 'project', 'visibility', 'gate', 'file', 'answer', ''],
  ])
  const json = await run([url, '--json', '--method', 'POST'])
  expect(JSON.parse(json.stdout)).toMatchObject({ method: 'POST', outcome: { status: 405 } })
})

test('an address of somebody else, a key that is wrong, no address', async () => {
  expect((await run(['http://nowhere.example/'])).code).toBe(1)
  expect((await run(['http://nowhere.example/'], { SVC_API_KEY: 'svc_wrong' })).code).toBe(1)
  expect((await run([])).code).toBe(2)
})

test('without a key it shows what anybody gets there, and says what the trace needs', async () => {
  const url = `http://${fixture.site.aliasHost}/`
  const page = await run([url], { SVC_API_KEY: '' })
  expect(page.code).toBe(0)
  expect(page.stdout).toMatch(/^status +200 OK\n/)
  expect(page.stdout).toMatch(/content-type +text\/html/)
  expect(page.stdout.trimEnd().split('\n').at(-1)).toContain('SVC_API_KEY')
  const missing = await run([`${url}nothing.png?a=b`, '--json'], { SVC_API_KEY: '' })
  expect(JSON.parse(missing.stdout)).toMatchObject({
    url: `${url}nothing.png?a=b`,
    status: 404,
    headers: { 'cache-control': 'no-store' },
  })
  const unknown = await run(['http://nowhere.example/'], { SVC_API_KEY: '' })
  expect([unknown.code, unknown.stdout.split('\n')[0]]).toEqual([0, 'status            404 Not Found'])
})

test('without a key nothing is carried out', async () => {
  const url = `http://${fixture.site.aliasHost}/`
  expect((await run([url, '--method', 'POST'], { SVC_API_KEY: '' })).code).toBe(2)
  expect((await run(['nowhere'], { SVC_API_KEY: '' })).code).toBe(2)
  expect((await run([url], { SVC_API_KEY: '', SVC_API_URL: 'http://127.0.0.1:9' })).code).toBe(3)
})
