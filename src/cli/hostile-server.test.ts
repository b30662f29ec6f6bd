import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiFailure, apiClient } from './api-client.ts'
import { explainCommand } from './explain.ts'
import { rulesCommand } from './rules.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

const EVIL = '\u001b[2J\r\n::set-env name=A::1\n \u009b31m\u202e##[error]x'

let folder: string
let answers: Record<string, unknown>
let server: Bun.Server<undefined>

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-hostile-')))
  mkdirSync(join(folder, '.git'))
  answers = { '/api/projects/a/b': { id: 'p1' } }
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const found = answers[new URL(request.url).pathname]
      return found instanceof Response ? found : Response.json(found ?? null)
    },
  })
})
afterEach(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

async function svc(...args: string[]) {
  const io = testIo({ cwd: folder, env: { SVC_API_URL: server.url.origin, SVC_API_KEY: 'svc_k' } })
  const commands = { rules: () => rulesCommand, explain: () => explainCommand }
  const code = await runCommand(commands, args, io, 'rules')
  return { code, out: io.out(), err: io.err() }
}
const rules = (...args: string[]) => svc('rules', ...args, '--project', 'a/b')

/** No line that a runner takes for a command, and nothing but line ends that a terminal obeys. */
function expectHarmless(text: string): void {
  expect(text).not.toMatch(/^\s*::/m)
  expect(text).not.toContain('##[')
  expect(text).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
}

test('an answer without an end is not read on', async () => {
  const piece = new Uint8Array(1024 * 1024).fill(0x78)
  answers['/api/x'] = new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }))
  const client = apiClient({ apiUrl: server.url.origin, apiKey: 'svc_k', env: {} })
  await expect(client.json('GET', '/api/x')).rejects.toThrow('answered more than any svc does')
})

test('what a refusal says is one line each, and not a screenful', async () => {
  const details = [null, 5, { path: EVIL, message: EVIL }]
  answers['/api/x'] = Response.json(
    { statusCode: 400, error: EVIL, message: `${EVIL}${'m'.repeat(1e6)}`, details },
    { status: 400 },
  )
  const client = apiClient({ apiUrl: server.url.origin, apiKey: 'svc_k', env: {} })
  const failure = await client.json('GET', '/api/x').catch((error: unknown) => error)
  if (!(failure instanceof ApiFailure)) throw new Error('it was refused')
  expect(failure.message.split('\n')).toHaveLength(2)
  expect(failure.message.length).toBeLessThan(3_000)
})

const sync = {
  ruleSetId: EVIL,
  created: [{ pathPattern: EVIL, method: EVIL }],
  updated: [],
  deleted: [],
  unchanged: [],
  pruneCandidates: [{ pathPattern: EVIL, method: EVIL }],
  schemaResolutions: [{ name: EVIL, action: 'create', targetSchemaId: null, fieldMismatch: false }],
  missingSecrets: [EVIL],
  warnings: [EVIL],
  dryRun: false,
  setCreated: false,
}
const SYNC = '/api/proxy-rule-sets/project/p1/sync'

test.each([[], ['--json']])('the report of a push gives nobody a command %p', async (...flags) => {
  await rules('init', 'notes')
  answers[SYNC] = { ...sync, name: `\n::error::${EVIL}`, path: EVIL }
  const { code, out, err } = await rules('push', '.svc/proxy-rules/notes', ...flags)
  expect(code).toBe(0)
  expect(out).toContain('notes')
  expectHarmless(out + err)
})

test('where a file of the repository sends the key is said, what the caller says himself is not', async () => {
  const address = `the API key goes to ${server.url.origin}, as ${join(folder, '.svc/config.json')} says\n`
  mkdirSync(join(folder, '.svc'))
  writeFileSync(join(folder, '.svc/config.json'), JSON.stringify({ apiUrl: server.url.origin }))
  answers['/api/explain'] = { steps: [] }
  for (const [env, said] of [
    [{ SVC_API_KEY: 'svc_k' }, address],
    [{ SVC_API_KEY: 'svc_k', SVC_API_URL: server.url.origin }, ''],
  ] as const) {
    const io = testIo({ cwd: folder, env })
    await runCommand({ explain: () => explainCommand }, ['explain', 'http://a.test/'], io, 'explain')
    expect(io.err()).toBe(said)
  }
})

test('explain writes its lines and no commands', async () => {
  answers['/api/explain'] = { steps: [{ step: '::error::x', text: EVIL }] }
  const { code, out } = await svc('explain', 'http://a.test/')
  expect(code).toBe(0)
  expectHarmless(out)
  answers['/api/explain'] = { steps: 5 }
  expect(await svc('explain', 'http://a.test/')).toMatchObject({ code: 1, out: '' })
})

const LIST = '/api/proxy-rule-sets/project/p1'
const EXPORT = '/api/proxy-rule-sets/s1/export'
const exported = { ruleSet: { name: 'notes', description: null, environment: null }, rules: [], schemas: [] }
const rule = {
  pathPattern: '/api/a',
  method: 'POST',
  methods: null,
  headerConfig: null,
  pipelineConfig: null,
}

test.each<[what: string, path: string, answer: unknown]>([
  ['null for a sync', SYNC, null],
  ['a sync of nothing but a number', SYNC, { created: 0 }],
  ['a number for a list of rules', SYNC, { ...sync, updated: 1 }],
  ['a rule without a path', SYNC, { ...sync, created: [{ method: 'GET' }] }],
  ['no list of warnings', SYNC, { ...sync, warnings: null }],
  ['a list with null in it', LIST, { ruleSets: [null] }],
  ['a number for a name', EXPORT, { ...exported, ruleSet: { name: 5 } }],
  ['null for a rule', EXPORT, { ...exported, rules: [null] }],
  ['a number for a pattern', EXPORT, { ...exported, rules: [{ ...rule, pathPattern: 5 }] }],
  ['steps that are none', EXPORT, { ...exported, rules: [{ ...rule, pipelineConfig: { steps: 5 } }] }],
  ['a path for a schema', EXPORT, { ...exported, schemas: [{ name: '../../x', fields: [] }] }],
  ['a \\ in a schema', EXPORT, { ...exported, schemas: [{ name: '..\\x', fields: [] }] }],
  ['null for a field', EXPORT, { ...exported, schemas: [{ name: 'x', fields: [null] }] }],
])('%s is told as what it is', async (_what, path, answer) => {
  await rules('init', 'notes')
  const before = readdirSync(join(folder, '.svc'), { recursive: true }).sort()
  Object.assign(answers, { [SYNC]: sync, [LIST]: { ruleSets: [{ id: 's1', name: 'notes' }] } })
  Object.assign(answers, { [EXPORT]: exported, '/api/schemas': { schemas: [] }, [path]: answer })
  const verb = path === SYNC ? 'push' : 'pull'
  const { code, err } = await rules(verb, verb === 'push' ? '.svc/proxy-rules/notes' : 'notes')
  expect(code).toBe(1)
  expect(err).toContain('the server answered what no svc answers')
  expect(readdirSync(join(folder, '.svc'), { recursive: true }).sort()).toEqual(before)
})

test('a link of the repository does not lead a pull or an init elsewhere', async () => {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'svc-outside-')))
  try {
    mkdirSync(join(folder, '.svc/proxy-rules/inner'), { recursive: true })
    symlinkSync(outside, join(folder, '.svc/proxy-rules/notes'))
    symlinkSync(join(outside, 'new'), join(folder, '.svc/proxy-rules/inner/ruleset.yaml'))
    answers[LIST] = { ruleSets: ['notes', 'inner'].map((name) => ({ id: 's1', name })) }
    answers[EXPORT] = exported
    for (const args of [
      ['pull', 'notes'],
      ['pull', 'inner'],
      ['init', 'notes'],
    ])
      expect(await rules(...args)).toMatchObject({ code: 1 })
    expect(readdirSync(outside)).toEqual([])
    expect(existsSync(join(outside, 'new'))).toBe(false)
  } finally {
    rmSync(outside, { recursive: true })
  }
})
