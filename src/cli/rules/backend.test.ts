import { afterEach, beforeEach, expect, test } from 'bun:test'
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa } from '../../testing/test-ca.ts'
import { rulesCommand } from '../rules.ts'
import { runCommand } from '../run-command.ts'
import { testIo } from '../testing/test-io.ts'

/** What `svc rules test` reaches beyond this process. */
let folder: string
let caFile: string
let backend: Bun.Server<undefined>

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-backend-')))
  const ca = createTestCa()
  caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca.pem)
  backend = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: ca.issue({ names: ['localhost'] }),
    fetch: ({ headers }) => new Response(`reached ${headers.get('x-service-key')}`),
  })
  mkdirSync(join(folder, 'rules/app'), { recursive: true })
  writeFileSync(join(folder, 'ruleset.yaml'), 'name: app\n')
  writeFileSync(join(folder, 'rules/app/get.rule.yaml'), `targetUrl: https://localhost:${backend.port}\n`)
  writeFileSync(
    join(folder, 'rules/app/get.rule.test.yaml'),
    'tests:\n  - name: is reached\n    expect: { bodyContains: reached }\n',
  )
})
afterEach(async () => {
  await backend.stop(true)
  rmSync(folder, { recursive: true })
})

async function tests(args: string[], env: Record<string, string> = {}) {
  const io = testIo({ cwd: folder, env })
  const code = await runCommand({ rules: () => rulesCommand }, ['rules', ...args], io, 'serve')
  return { code, out: io.out(), err: io.err() }
}

test('tests reach private backends where the environment or a flag says so, and no others', async () => {
  const env = { NODE_EXTRA_CA_CERTS: caFile }
  expect((await tests(['test', '.'], env)).out).toContain('is not a public address')
  const named = await tests(['test', '.'], { ...env, PROXY_ALLOWED_TARGETS: 'localhost' })
  expect([named.code, named.out]).toEqual([0, expect.stringContaining('1 test passed')])
  const flags = ['--proxy-allowed-targets', `localhost:${backend.port}`, '--node-extra-ca-certs', caFile]
  const over = { PROXY_ALLOWED_TARGETS: '10.0.0.1', NODE_EXTRA_CA_CERTS: '/nowhere.pem' }
  expect((await tests(['test', '.', ...flags], over)).code).toBe(0)
})

test.each([['test'], ['dev']])('%s does not begin with a bad setting', async (verb) => {
  const { code, err } = await tests([verb, '.', '--proxy-allowed-targets', 'a/b/c'])
  expect([code, err]).toEqual([
    78,
    expect.stringMatching(/^svc rules: PROXY_ALLOWED_TARGETS is "a\/b\/c", but/),
  ])
})

test('a secret header has the value that the environment gives, and a failure says where none is', async () => {
  const at = join(folder, 'rules/app/get.rule')
  appendFileSync(`${at}.yaml`, "headerConfig:\n  add:\n    x-service-key: ''\n")
  const run = (env: Record<string, string>) =>
    tests(['test', '.', '--proxy-allowed-targets=localhost', '--node-extra-ca-certs', caFile], env)
  expect(await run({})).toMatchObject({ code: 0, err: '' })
  writeFileSync(`${at}.test.yaml`, 'tests:\n  - name: knows us\n    expect: { body: reached sesame }\n')
  expect((await run({ SVC_HEADER_X_SERVICE_KEY: 'sesame' })).out).toContain('1 test passed')
  expect((await run({})).out).toContain(
    '; the header x-service-key has no value here; SVC_HEADER_X_SERVICE_KEY gives it one',
  )
  const wrong = await run({ SVC_HEADER_X_SERVICE_KEY: 'a\nb' })
  expect([wrong.code, wrong.err]).toEqual([
    1,
    expect.stringContaining('SVC_HEADER_X_SERVICE_KEY is no header value'),
  ])
})
