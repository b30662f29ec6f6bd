import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createOperatorKey } from '../../modules/api-keys/service.ts'
import { programWith } from '../../testing/program.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { listening, type TestApp, testApp } from '../../testing/test-app.ts'

const SET = '.svc/proxy-rules/book'
const RULE = `${SET}/rules/api/a/get.rule.yaml`
const answer = (body: string) =>
  `pipeline:\n  steps:\n    - id: a\n      handler: response_handler\n      config: { body: '${body}' }\n`
const expected = (body: string) => `tests:\n  - name: answers\n    expect: { body: ${body} }\n`

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-rules-dev-')))
  write(`${SET}/ruleset.yaml`, 'name: book\n')
  write(RULE, answer('1'))
  write(RULE.replace('.yaml', '.test.yaml'), expected('1'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/** The real program. `said` resolves when it has said the text since it was last asked. */
function start(args: string[] = [], env: Record<string, string> = {}) {
  const child = Bun.spawn([...programWith(env), 'rules', 'dev', SET, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', GIT_CEILING_DIRECTORIES: tmpdir(), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let unread = ''
  let heard = () => {}
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) {
      unread += new TextDecoder().decode(chunk)
      heard()
    }
  }
  const ended = Promise.all([child.exited, read(child.stdout), read(child.stderr)])
  const said = async (text: string): Promise<string> => {
    for (;;) {
      const at = unread.indexOf(text)
      if (at !== -1) {
        const before = unread.slice(0, at)
        unread = unread.slice(at + text.length)
        return before
      }
      const more = new Promise<void>((resolve) => {
        heard = resolve
      })
      const isOver = await Promise.race([more.then(() => false), ended.then(() => true)])
      if (isOver && !unread.includes(text)) throw new Error(`it ended without saying ${text}: ${unread}`)
    }
  }
  return { said, kill: (signal: NodeJS.Signals) => child.kill(signal), exited: child.exited }
}

test('tests at once and at every change, whatever happens to the files, and ends when interrupted', async () => {
  const dev = start()
  await dev.said(`watching ${SET} until Ctrl+C`)
  await dev.said('1 test passed, 0 failed')

  write(RULE, answer('2'))
  expect(await dev.said('0 tests passed, 1 failed')).toContain(`FAIL  ${SET}/rules/api/a/get.rule.test.yaml`)
  write(RULE, answer('1').replace('handler:', 'hander:'))
  await dev.said(`${RULE}:4:7 pipeline.steps[0].hander is not known here`)
  write(RULE, answer('1'))
  await dev.said('1 test passed, 0 failed')

  write(`${SET}/rules/api/new/deep/get.rule.yaml`, answer('3'))
  write(`${SET}/rules/api/new/deep/get.rule.test.yaml`, expected('3'))
  await dev.said('2 tests passed, 0 failed')
  write(`${SET}/rules/api/new/deep/get.rule.test.yaml`, expected('4'))
  await dev.said('1 test passed, 1 failed')

  renameSync(join(folder, SET), join(folder, 'away'))
  await dev.said(`there is no folder ${SET}`)
  write(`${SET}/ruleset.yaml`, 'name: book\n')
  write(RULE, answer('1'))
  await dev.said('0 tests passed, 0 failed')
  write(RULE.replace('.yaml', '.test.yaml'), expected('1'))
  await dev.said('1 test passed, 0 failed')

  dev.kill('SIGINT')
  expect(await dev.exited).toBe(0)
}, 60_000)

test('with a suffix, what passes is pushed as a copy, and what fails is not', async () => {
  const app: TestApp = await testApp()
  const files = { 'index.html': 'hi' }
  const seed = { owner: 'acme', repo: 'book', sha: 'a'.repeat(40), alias: 'production', files }
  const { projectId } = await seedDeployment(app, seed)
  const key = createOperatorKey(app.ctx, { name: 'ci', repository: 'acme/book' })
  const server = listening(app)
  const env = { SVC_API_URL: server.url.origin, SVC_API_KEY: key }
  const dev = start(['--name-suffix=-dev', '--project', 'acme/book'], env)
  await dev.said('book-dev (a new set): 1 created')
  write(RULE, answer('2'))
  await dev.said('0 tests passed, 1 failed')
  write(RULE.replace('.yaml', '.test.yaml'), expected('2'))
  await dev.said('book-dev: 0 created, 1 updated')
  dev.kill('SIGTERM')
  expect(await dev.exited).toBe(0)
  const path = `/api/proxy-rule-sets/project/${projectId}`
  const { ruleSets } = await (await app.call('GET', path, { key })).json()
  expect(ruleSets).toMatchObject([{ name: 'book-dev' }])
  await server.stop(true)
  app.close()
}, 60_000)
