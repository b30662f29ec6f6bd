import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createOperatorKey } from '../../../src/modules/api-keys/service.ts'
import { seedDeployment } from '../../../src/testing/seed.ts'
import { listening, type TestApp, testApp } from '../../../src/testing/test-app.ts'

const NODE = Bun.which('node') ?? process.execPath
const ROOT = join(import.meta.dir, '../../..')
const ACTION = join(import.meta.dir, 'index.mjs')

let app: TestApp
let server: Bun.Server<undefined>
let key: string
let folder: string

beforeAll(async () => {
  app = await testApp()
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'book',
    sha: 'a'.repeat(40),
    files: { 'index.html': 'hi' },
  })
  key = createOperatorKey(app.ctx, { name: 'ci', repository: 'acme/book' })
  server = listening(app)
})
afterAll(async () => {
  await server.stop(true)
  app.close()
})
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-action-')))
  cpSync(join(ROOT, 'examples/guestbook/.svc'), join(folder, '.svc'), { recursive: true })
  // What `svc-path` names: the command line of this checkout.
  writeFileSync(
    join(folder, 'svc'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'src/main.ts')}" "$@"\n`,
  )
  chmodSync(join(folder, 'svc'), 0o755)
})
afterEach(() => rmSync(folder, { recursive: true }))

async function run(given: Record<string, string> = {}, action = ACTION) {
  for (const name of ['output', 'summary']) writeFileSync(join(folder, name), '')
  const inputs = {
    path: '.svc/proxy-rules/guestbook\n',
    'api-url': server.url.origin,
    'api-key': key,
    'svc-path': join(folder, 'svc'),
    ...given,
  }
  const child = Bun.spawn([NODE, action], {
    cwd: folder,
    env: {
      PATH: '/usr/bin:/bin',
      GITHUB_WORKSPACE: folder,
      GITHUB_REPOSITORY: 'acme/book',
      GITHUB_OUTPUT: join(folder, 'output'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, text]) => [`INPUT_${name.toUpperCase()}`, text]),
      ),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const lines = readFileSync(join(folder, 'output'), 'utf8').split('\n').slice(0, -1)
  return {
    code: await child.exited,
    log: stdout + stderr,
    outputs: Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
    summary: readFileSync(join(folder, 'summary'), 'utf8'),
  }
}

test('plans, pushes, and the second time changes nothing', async () => {
  const dry = await run({ 'dry-run': 'true' })
  expect(dry).toMatchObject({ code: 0, outputs: { changed: 'true', 'rule-set-ids': '' } })
  const first = await run({ prune: 'true' })
  expect(first.log).toStartWith(`::add-mask::${key}\n`)
  expect(first).toMatchObject({ code: 0, outputs: { changed: 'true', 'rule-set-names': 'guestbook' } })
  expect(first.summary).toContain('| guestbook | 10 | 0 | 0 | 0 |')
  const again = await run()
  expect(again.outputs).toMatchObject({ changed: 'false', 'rule-set-ids': first.outputs['rule-set-ids'] })
  expect(JSON.parse(again.outputs['report'] ?? '')[0].unchanged).toHaveLength(10)
  const copy = await run({ 'name-suffix': 'pr-7' })
  expect(copy.outputs['rule-set-names']).toBe('guestbook-pr-7')
  expect(copy.log).toContain('::warning::')
}, 60_000)

/** What a release makes of it installs svc: scripts/release/rules-action.test.ts. */
test('a copy of the source, without svc anywhere, says what it needs', async () => {
  cpSync(import.meta.dir, join(folder, 'action'), { recursive: true })
  const { code, log } = await run({ 'svc-path': '' }, join(folder, 'action/index.mjs'))
  expect(code).toBe(1)
  expect(log).toContain(
    '::error::There is no svc here, and this copy of the action is of no release that could install it: put svc on the PATH, or name it with the input svc-path',
  )
})

test('action.yml declares what the action reads and sets', async () => {
  const action = parse(await Bun.file(join(import.meta.dir, 'action.yml')).text())
  const required = Object.entries<{ required: boolean }>(action.inputs).filter(([, input]) => input.required)
  expect(required.map(([name]) => name)).toEqual(['path', 'api-url', 'api-key'])
  expect(Object.keys(action.inputs)).toEqual([
    'path',
    'api-url',
    'api-key',
    'project',
    'prune',
    'dry-run',
    'name-suffix',
    'svc-path',
    'svc-version',
  ])
  expect(Object.keys(action.outputs)).toEqual(['rule-set-ids', 'rule-set-names', 'changed', 'report'])
})

describe('faults', () => {
  test.each([
    ['no path', { path: ' \n' }, 'The input path is required'],
    ['no key', { 'api-key': '' }, 'The input api-key is required'],
    ['a flag as a path', { path: '--prune' }, 'The input path has no flags'],
    ['no flag', { prune: 'maybe' }, 'The input prune is true or false'],
    ['no executable', { 'svc-path': '/nowhere/svc' }, 'The input svc-path names no file'],
    ['a range of versions', { 'svc-version': '^1.2.3' }, 'The input svc-version is an exact version'],
    ['a tag as a version', { 'svc-version': 'latest' }, 'The input svc-version is an exact version'],
    ['a wrong key', { 'api-key': 'svc_wrong' }, 'API key'],
    ['no folder', { path: '.svc/nothing' }, 'there is no folder .svc/nothing'],
  ])(
    '%s',
    async (_what, given, message) => {
      const { code, log, outputs } = await run(given)
      expect(code).toBe(1)
      expect(log).toContain('::error::')
      expect(log).toContain(message)
      expect(outputs).toEqual({})
    },
    60_000,
  )

  test('files that are wrong are named with their places', async () => {
    writeFileSync(join(folder, '.svc/proxy-rules/guestbook/ruleset.yaml'), 'nme: x\n')
    const { code, log } = await run()
    expect(code).toBe(1)
    expect(log).toContain('.svc/proxy-rules/guestbook/ruleset.yaml:1:1 nme is not known here')
  }, 60_000)
})
