import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { operatorGrant } from '../auth/authorize.ts'
import { putSecret } from '../secrets/service.ts'

const ADMIN = 'ann@example.com'
const CONTRIBUTOR = 'carl@example.com'
const SECRET = 'hunter2-hunter2'

let app: TestApp
let projectId: string
let key: string
let host: string
let counter = 0

beforeAll(async () => {
  app = await testApp({}, { resolve: async () => ['93.184.216.34'] })
  await app.addUser(ADMIN, 'admin')
  await app.addUser(CONTRIBUTOR, 'user')
})
afterAll(() => app.close())

/** Each test gets its own project. */
beforeEach(async () => {
  counter += 1
  const site = await seed(`site${counter}`)
  projectId = site.projectId
  host = site.aliasHost ?? ''
  const made = await app.call('POST', '/api/api-keys', { as: ADMIN, json: { name: 'ci', projectId } })
  key = (await made.json()).key
})

const seed = (repo: string, alias = 'production', sha = 'a'.repeat(40)) =>
  seedDeployment(app, { owner: 'acme', repo, sha, alias, files: { 'index.html': '<h1>hi</h1>' } })

type Json = Record<string, unknown>
const answerRule = (pathPattern: string, body: string, more: Json = {}): Json => ({
  pathPattern,
  method: 'GET',
  proxyType: 'pipeline',
  pipelineConfig: { steps: [{ id: 'answer', handlerType: 'response_handler', config: { body } }] },
  ...more,
})
const push = (rules: Json[], more: Json = {}): Json => ({
  ruleSet: { name: 'guestbook', description: 'The book', environment: 'production' },
  rules,
  options: {},
  ...more,
})

async function sync(json: Json, who: { as?: string; key?: string } = { key }, status = 200): Promise<Json> {
  const answer = await app.call('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, { ...who, json })
  const body = await answer.json()
  expect({ status: answer.status, body }).toMatchObject({ status })
  return body
}
const get = async (path: string) => (await app.call('GET', path, { as: ADMIN })).json()
const visit = async (path: string, on = host, method = 'GET') => {
  const answer = await app.call(method, path, { host: on, headers: { accept: 'text/plain' } })
  return `${answer.status} ${await answer.text()}`
}
/** A list of so many rules. */
const rulesOf = (count: number) => Array(count).fill({ pathPattern: expect.any(String) })
const id = (body: Json): string => String(body['ruleSetId'])
const MESSAGES = { name: 'messages', fields: [{ name: 'text', type: 'string', required: true }] }

describe('sync', () => {
  test('creates a set that is live at once; repeating the push changes nothing', async () => {
    const first = await sync(
      push([answerRule('/api/hi', '{"a":1}'), answerRule('/api/ho', '{}')], { schemas: [MESSAGES] }),
    )
    const both = [
      { pathPattern: '/api/hi', method: 'GET' },
      { pathPattern: '/api/ho', method: 'GET' },
    ]
    expect(first).toMatchObject({
      created: both,
      updated: [],
      deleted: [],
      unchanged: [],
      pruneCandidates: [],
      missingSecrets: [],
      warnings: [],
      dryRun: false,
      setCreated: true,
      schemaResolutions: [{ name: 'messages', action: 'create', fieldMismatch: false }],
    })
    expect(await visit('/api/hi')).toBe('200 {"a":1}')

    app.advance(1000)
    const before = await get(`/api/proxy-rule-sets/${id(first)}`)
    const again = await sync(
      push([answerRule('/api/hi', '{"a":1}'), answerRule('/api/ho', '{}')], { schemas: [MESSAGES] }),
    )
    expect(again).toMatchObject({ created: [], updated: [], deleted: [], unchanged: both, setCreated: false })
    expect(again['ruleSetId']).toBe(first['ruleSetId'])
    expect(again['schemaResolutions']).toMatchObject([{ action: 'reuse' }])
    expect(await get(`/api/proxy-rule-sets/${id(first)}`)).toEqual(before)
    expect((await get(`/api/proxy-rule-sets/${id(first)}/revisions`)).revisions).toHaveLength(1)
  })

  test('counts its changes, and deletes only with prune', async () => {
    const { ruleSetId } = await sync(push([answerRule('/a', '1'), answerRule('/b', '1')]))
    const next = push([answerRule('/a', '2'), answerRule('/c', '1')])
    expect(await sync(next)).toMatchObject({
      ruleSetId,
      created: [{ pathPattern: '/c', method: 'GET' }],
      updated: [{ pathPattern: '/a', method: 'GET' }],
      unchanged: [],
      deleted: [],
      pruneCandidates: [{ pathPattern: '/b', method: 'GET' }],
    })
    expect(await visit('/b')).toBe('200 1')
    expect(await sync({ ...next, options: { prune: true } })).toMatchObject({
      deleted: [{ pathPattern: '/b', method: 'GET' }],
      unchanged: rulesOf(2),
      pruneCandidates: [],
    })
    expect(await visit('/b')).toStartWith('404')
  })

  test('the spellings of one path are one rule, stored as it is written', async () => {
    const made = await sync(push([answerRule('/a b/*', '1')]))
    expect(await sync(push([answerRule('/%61%20b/*', '1')]))).toMatchObject({
      ruleSetId: made['ruleSetId'],
      created: [],
      updated: [{ pathPattern: '/%61%20b/*', method: 'GET' }],
      pruneCandidates: [],
    })
    const stored = await get(`/api/proxy-rule-sets/${id(made)}`)
    expect(stored.rules.map(({ pathPattern }: Json) => pathPattern)).toEqual(['/%61%20b/*'])
    expect(await visit('/a%20b/x')).toBe('200 1')
    const twice = push([answerRule('/a b/*', '1'), answerRule('/a%20b/*', '2')])
    expect((await sync(twice, { key }, 400))['message']).toContain('two rules with this path and method')
  })

  test('a set of before with two spellings of one rule keeps the one that is pushed', async () => {
    const made = await sync(push([answerRule('/a b', '1'), answerRule('/c', '1')]))
    app.ctx.db.sqlite.run("UPDATE proxy_rules SET path_pattern = '/a%20b' WHERE path_pattern = '/c'")
    app.ctx.db.writes += 1
    const next = push([answerRule('/a%20b', '1')], { options: { prune: true } })
    expect(await sync(next)).toMatchObject({
      created: [],
      deleted: [{ pathPattern: '/a b', method: 'GET' }],
    })
    const stored = await get(`/api/proxy-rule-sets/${id(made)}`)
    expect(stored.rules.map(({ pathPattern }: Json) => pathPattern)).toEqual(['/a%20b'])
  })

  test('every rule is named by its path and method, null for every method', async () => {
    const { method: _, ...every } = answerRule('/every', '1')
    const rules = [every, answerRule('/a', '1', { method: 'post' })]
    const named = [
      { pathPattern: '/every', method: null },
      { pathPattern: '/a', method: 'POST' },
    ]
    const lists = { created: [], updated: [], deleted: [], unchanged: [], pruneCandidates: [] }
    expect(await sync(push(rules, { options: { dryRun: true } }))).toMatchObject({ ...lists, created: named })
    expect(await sync(push(rules))).toMatchObject({ ...lists, created: named })
    expect(await sync(push(rules))).toMatchObject({ ...lists, unchanged: named })
    expect(await sync(push([]))).toMatchObject({ ...lists, pruneCandidates: named })
    expect(await sync(push([], { options: { prune: true } }))).toMatchObject({ ...lists, deleted: named })
  })

  test('answers what the rules client of the original reads', async () => {
    const answer = await sync(
      push([answerRule('/a', '1')], {
        schemas: [{ id: 'b7e6a1f0-0000-4000-8000-000000000001', ...MESSAGES }],
        options: { prune: false, dryRun: false, strictSchemas: false },
        source: { repo: 'acme/site', gitSha: 'a'.repeat(40), path: '.bffless/proxy-rules/guestbook' },
      }),
    )
    type Rules = { pathPattern: string; method: string | null }[]
    const rows = (['created', 'updated', 'deleted', 'unchanged', 'pruneCandidates'] as const).map((how) =>
      (answer[how] as Rules).map(({ method, pathPattern }) => `${method ?? 'ANY'} ${pathPattern}`).join(', '),
    )
    expect(rows).toEqual(['GET /a', '', '', '', ''])
    for (const list of ['missingSecrets', 'warnings', 'schemaResolutions'])
      expect((answer[list] as unknown[]).length).toBeGreaterThanOrEqual(0)
    expect(answer).toMatchObject({ ruleSetId: expect.any(String), dryRun: false, setCreated: true })
  })

  test('a dry run returns what would change, and changes nothing', async () => {
    const dry = push([answerRule('/a', '1')], { schemas: [MESSAGES], options: { dryRun: true } })
    expect(await sync(dry)).toMatchObject({
      ruleSetId: null,
      created: rulesOf(1),
      dryRun: true,
      setCreated: true,
      schemaResolutions: [{ action: 'create', targetSchemaId: null }],
    })
    expect(await get(`/api/proxy-rule-sets/project/${projectId}`)).toEqual({ ruleSets: [] })
    expect(await get(`/api/schemas?projectId=${projectId}`)).toEqual({ schemas: [] })
    const { ruleSetId } = await sync(push([answerRule('/a', '1')]))
    expect(await sync(push([], { options: { dryRun: true, prune: true } }))).toMatchObject({
      ruleSetId,
      deleted: rulesOf(1),
    })
    expect(await visit('/a')).toBe('200 1')
  })

  test('order defaults to the position in the push; methods are compared in upper case', async () => {
    const made = await sync(
      push([
        answerRule('/x/*', '1', { method: 'get' }),
        answerRule('/x/y', '2'),
        answerRule('/z', '3', { order: 40, method: 'ANY' }),
      ]),
    )
    const { rules } = await get(`/api/proxy-rule-sets/${id(made)}`)
    expect(rules.map((rule: Json) => [rule['pathPattern'], rule['method'], rule['order']])).toEqual([
      ['/x/*', 'GET', 0],
      ['/x/y', 'GET', 1],
      ['/z', null, 40],
    ])
    expect(await visit('/x/y')).toBe('200 1')
  })

  test('accepts 16 MiB', async () => {
    const rules = Array.from({ length: 10 }, (_, i) =>
      answerRule(`/big/${i}`, JSON.stringify('x'.repeat(1_000_000))),
    )
    expect(await sync(push(rules))).toMatchObject({ created: rulesOf(10) })
  })

  test('shows when it was last pushed, also for the same commit', async () => {
    const source = { repo: 'acme/site', gitSha: 'abc1234', path: 'rules' }
    const set = `/api/proxy-rule-sets/${id(await sync(push([answerRule('/a', '1')], { source })))}`
    const before = await get(set)
    app.advance(1000)
    await sync(push([answerRule('/a', '2')], { source }))
    const after = await get(set)
    expect(Date.parse(after.source.syncedAt) - Date.parse(before.source.syncedAt)).toBe(1000)
    expect(after.rules[0].source).toEqual(after.source)
    app.advance(1000)
    await sync(push([answerRule('/a', '2')], { source }))
    expect(await get(set)).toEqual(after)
  })

  test('shows its source', async () => {
    const made = await sync(
      push([answerRule('/a', '1')], { source: { repo: 'acme/site', gitSha: 'abc1234', path: '.svc/x' } }),
    )
    const set = await get(`/api/proxy-rule-sets/${id(made)}`)
    expect(set.source).toMatchObject({ repo: 'acme/site', gitSha: 'abc1234', path: '.svc/x' })
    expect(set.rules[0].source).toMatchObject({ repo: 'acme/site', gitSha: 'abc1234' })
  })
})

describe('errors and warnings of a push', () => {
  const proxy = (targetUrl: string, more: Json = {}): Json => ({ pathPattern: '/p/*', targetUrl, ...more })
  test.each<[string, Json[], string | undefined, string]>([
    [
      'two rules of one identity',
      [answerRule('/a', '1'), answerRule('/a', '2', { method: 'get' })],
      undefined,
      'GET /a',
    ],
    ['an http target', [proxy('http://api.test')], 'PROXY_TARGET_NOT_HTTPS', 'ANY /p/*'],
    ['a private target', [proxy('https://10.0.0.1/')], 'PROXY_TARGET_NOT_ALLOWED', 'ANY /p/*'],
    [
      'localhost beside its auth',
      [proxy('https://localhost:3000/api/authors')],
      'PROXY_TARGET_NOT_ALLOWED',
      'ANY /p/*',
    ],
    ['no target', [{ pathPattern: '/p/*' }], undefined, 'ANY /p/*'],
    ['an invalid pattern', [answerRule('a', '1')], undefined, 'GET a'],
    ['a pipeline without steps', [answerRule('/a', '1', { pipelineConfig: {} })], undefined, 'GET /a'],
    ['a bad configuration', [answerRule('/a', '{{')], undefined, 'GET /a'],
    ['an unknown schema', [withSchema('$schema:nope')], undefined, 'GET /s'],
    ['an unknown schema id', [withSchema('0192a1b2-0000-7000-8000-000000000000')], undefined, 'GET /s'],
  ])('%s', async (_what, rules, code, named) => {
    const body = await sync(push([answerRule('/fine', '1'), ...rules]), { key }, 400)
    expect(body['message']).toContain(named)
    expect((body['details'] as Json[]).length).toBeGreaterThan(0)
    if (code !== undefined) expect(body['error']).toBe(code)
    expect(await get(`/api/proxy-rule-sets/project/${projectId}`)).toEqual({ ruleSets: [] })
  })

  test.each<[Json, string]>([
    [{ options: 'dryRun' }, 'options'],
    [{ options: ['dryRun'] }, 'options'],
    [{ source: 'acme/docs' }, 'source'],
    [{ source: { repo: 5 } }, 'source'],
    [
      { rules: [answerRule('/fine', '1'), proxy('https://api.test', { headerConfig: 'x' })] },
      'rules[1].headerConfig',
    ],
    [{ rules: [answerRule('/a', '1', { pipelineConfig: 5 })] }, 'rules[0].pipelineConfig'],
  ])('%j is not taken for something empty', async (more, path) => {
    const body = await sync({ ...push([answerRule('/fine', '1')]), ...more }, { key }, 400)
    expect(body['details']).toEqual([{ path, message: expect.stringMatching(/^An object /) }])
    expect(await get(`/api/proxy-rule-sets/project/${projectId}`)).toEqual({ ruleSets: [] })
  })

  test.each<[more: Json, message: string]>([
    [{ rules: {} }, 'rules: A list of at most 5000 rules'],
    [{ rules: { pathPattern: '/a', targetUrl: 'https://api.test' } }, 'rules: A list of at most 5000 rules'],
    [{ rules: [5] }, 'rules[0]: A rule is an object with pathPattern, and with targetUrl or pipelineConfig'],
    [{ schemas: [5] }, 'schemas[0]: A schema is an object with name and fields'],
    [
      { ruleSet: undefined },
      'ruleSet: An object with name, and description and environment if there are any',
    ],
    [
      { ruleSet: { name: 'a', description: 5 } },
      'ruleSet.description: A text of at most 20000 characters, or null',
    ],
    [
      { rules: [proxy('https://api.test', { timeout: 5 })] },
      'rules[0].timeout: Milliseconds: a whole number from 100 to 60000',
    ],
    [{ rules: [proxy('https://api.test', { isEnabled: 'x' })] }, 'rules[0].isEnabled: Must be true or false'],
  ])('%j is refused in a sentence', async (more, message) => {
    const body = await sync({ ...push([answerRule('/fine', '1')]), ...more }, { key }, 400)
    const [path = '', ...rest] = message.split(': ')
    expect([body['message'], body['details']]).toEqual([message, [{ path, message: rest.join(': ') }]])
  })

  test('a secret that the project lacks is a warning until it is set', async () => {
    const config = { url: 'https://example.com/{{secrets.PATH}}', headers: { 'x-key': 'secrets.KEY' } }
    const steps = [{ id: 'call', handlerType: 'http_request', config }]
    const rules = [answerRule('/k', '1', { pipelineConfig: { steps: [], postSteps: steps } })]
    expect((await sync(push(rules)))['warnings']).toEqual([
      'the project has no secret PATH; until it is set its value is null (1 rule: GET /k)',
      'the project has no secret KEY; until it is set its value is null (1 rule: GET /k)',
    ])
    for (const name of ['PATH', 'KEY']) putSecret(app.ctx, operatorGrant(projectId), name, 'x')
    expect((await sync(push(rules)))['warnings']).toEqual([])
  })

  test('steps without ids and descriptions of 20000 characters are stored and come back as they were pushed', async () => {
    const description = 'ü'.repeat(20_000)
    const steps = [
      { handlerType: 'form_handler', name: 'In', config: { fields: {} } },
      { handlerType: 'response_handler' },
    ]
    const rule = answerRule('/n', '1', { description, pipelineConfig: { steps, postSteps: steps.slice(1) } })
    const sent = push([rule], { ruleSet: { name: 'guestbook', description } })
    const made = await sync(sent)
    expect(made['warnings']).toEqual([])
    const exported = await get(`/api/proxy-rule-sets/${id(made)}/export`)
    expect(exported.rules[0]).toMatchObject({
      description,
      pipelineConfig: { steps, postSteps: steps.slice(1) },
    })
    expect(exported.rules[0].pipelineConfig.steps[1]).toEqual({ handlerType: 'response_handler' })
    expect(exported.ruleSet.description).toBe(description)
    expect(await sync(sent)).toMatchObject({ updated: [], unchanged: rulesOf(1) })
    const more = push([{ ...rule, description: `${description}x` }])
    expect((await sync(more, { key }, 400))['message']).toContain('20000')
  })

  test('what a validator does not know is a warning, and its request answers 501', async () => {
    const validators = [{ type: 'auth_required', config: { scopes: ['a'] } }]
    const pipelineConfig = { validators, steps: [{ handlerType: 'response_handler', config: { body: '1' } }] }
    const { warnings } = await sync(push([answerRule('/v', '1', { pipelineConfig })]))
    expect(warnings).toEqual([
      expect.stringMatching(/^validators\[0\]\.config\.scopes is not known here.* \(1 rule: GET \/v\)$/),
    ])
    expect(await visit('/v')).toMatch(/^501 .*scopes.*auth_required/)
    const captcha = { ...pipelineConfig, validators: [{ type: 'captcha' }] }
    expect((await sync(push([answerRule('/v', '1', { pipelineConfig: captcha })])))['warnings']).toHaveLength(
      1,
    )
    expect(await visit('/v')).toMatch(/^501 .*captcha/)
  })

  test('what can never work is stored, and each of it is a warning', async () => {
    const steps = [
      { id: 'f', handlerType: 'function_handler', config: { code: 'const main = () => 1', timeout: 40_000 } },
      { id: 'a', handlerType: 'response_handler', config: { status: 'created' } },
    ]
    const { created, warnings } = await sync(push([answerRule('/n', '1', { pipelineConfig: { steps } })]))
    expect([(created as unknown[]).length, warnings]).toEqual([
      1,
      [
        expect.stringMatching(/^steps\[0\]\.config\.code must declare a function named handler/),
        'steps[0].config.timeout must be a whole number from 1 to 30000 (1 rule: GET /n)',
        'steps[1].config.status must be a whole number from 200 to 599 (1 rule: GET /n)',
      ],
    ])
  })

  test('the response does not outgrow the push', async () => {
    const rulesOf = (handlerType: string, config: Json) =>
      Array.from({ length: 20 }, (_, i) =>
        answerRule(`/${'long'.repeat(200)}${i}`, '1', {
          pipelineConfig: { steps: [{ id: 'a', handlerType, config }] },
        }),
      )
    const names = Array.from({ length: 100 }, (_, i) => `f${i}`)
    const body = names.map((name) => `{{secrets.${name}}}`).join('')
    const { warnings } = await sync(push(rulesOf('response_handler', { contentType: 'text/plain', body })))
    expect(warnings).toHaveLength(100)
    expect((warnings as string[])[99]).toStartWith('the project has no secret f99; ')
    expect(Math.max(...(warnings as string[]).map(({ length }) => length))).toBeLessThan(600)

    const fields = Object.fromEntries(names.map((name) => [name, {}]))
    const { details } = await sync(push(rulesOf('form_handler', { fields })), { key }, 400)
    expect(details).toHaveLength(1001)
    expect((details as Json[]).at(-1)).toEqual({ path: 'rules', message: 'and more like these' })
  })

  test('500 rules with unknown handlers: one line for a handler, five of its rules named, 100 lines in all', async () => {
    const named = (i: number, handlerType: string, before: Json[] = []) =>
      answerRule(`/u${i}`, '1', { pipelineConfig: { steps: [...before, { handlerType }] } })
    const same = Array.from({ length: 500 }, (_, i) => named(i, 'replicate'))
    expect((await sync(push(same)))['warnings']).toEqual([
      expect.stringMatching(
        /^steps\[0\]\.handler replicate is not known; .* \(500 rules: GET \/u0, GET \/u1, GET \/u2, GET \/u3, GET \/u4, …\)$/,
      ),
    ])
    expect(await visit('/u499')).toMatch(/^501 .*replicate/)
    const answer = { handlerType: 'response_handler', config: { condition: 'user', body: '1' } }
    const elsewhere = [named(1, 'replicate'), named(2, 'replicate', [answer])]
    expect((await sync(push(elsewhere)))['warnings']).toEqual([
      expect.stringMatching(/^steps\[…\]\.handler replicate .* \(2 rules: GET \/u1, GET \/u2\)$/),
    ])
    const others = Array.from({ length: 500 }, (_, i) => named(i, `h${i}`))
    const { warnings } = await sync(push(others))
    expect(warnings).toHaveLength(100)
    expect((warnings as string[])[98]).toContain('h98 is not known')
    expect((warnings as string[])[99]).toBe('… and 401 more')
  })

  test('the API of the original on its own machine is kept, never called, and answers 501', async () => {
    const targets = [
      'http://localhost:3000/api/users/1?a=b',
      'http://127.0.0.1/api/',
      'http://LOCALHOST:1/api/authors',
    ]
    const rules = targets.map((targetUrl, i) => ({ pathPattern: `/o${i}/*`, targetUrl }))
    const pushed = push(rules)
    const made = await sync(pushed)
    expect(made).toMatchObject({ created: rulesOf(3) })
    expect(made['warnings']).toEqual([
      expect.stringMatching(/^http:\/\/localhost:3000\/api\/… .*501 \(1 rule: ANY \/o0\/\*\)$/),
      expect.stringContaining('http://127.0.0.1/api/…'),
      expect.stringContaining('http://LOCALHOST:1/api/…'),
    ])
    for (const [i, target] of targets.entries()) {
      const answer = await app.call('POST', `/o${i}/x`, { host, headers: { accept: 'application/json' } })
      expect(answer.status).toBe(501)
      expect((await answer.json()).message).toContain(target)
    }
    expect((await get(`/api/proxy-rule-sets/${id(made)}/export`)).rules).toMatchObject(rules)
    expect(await sync(pushed)).toMatchObject({ unchanged: rulesOf(3) })
    const { revisions } = await get(`/api/proxy-rule-sets/${id(made)}/revisions`)
    const back = `/api/proxy-rule-sets/${id(made)}/rollback/${revisions[0].id}`
    expect((await app.call('POST', back, { key, json: {} })).status).toBe(200)
    const one = { pathPattern: '/hand', proxyType: 'external_proxy', targetUrl: targets[0] }
    const byHand = await app.call('POST', `/api/proxy-rules/project/${projectId}`, { key, json: one })
    expect(byHand.status).toBe(400)
  })

  test.each([
    'https://localhost:3000/api/users',
    'http://localhost:3000/other',
    'http://localhost:3000/api',
    'http://127.0.0.1:3000/api/auth/x',
    'http://10.0.0.1/api/users',
    'http://user:pass@localhost/api/users',
    'http://localhost.evil.test/api/users',
    'http://example.com/api/users',
  ])('%s stays refused', async (targetUrl) => {
    const refused = await sync(push([{ pathPattern: '/p/*', targetUrl }]), { key }, 400)
    expect(refused['details']).toMatchObject([{ path: 'rules[0].targetUrl' }])
  })

  test('a long timeout, an unknown handler and the auth of localhost', async () => {
    const unknown = { steps: [{ id: 'a', handlerType: 'teleport_handler' }] }
    const made = await sync(
      push([
        answerRule('/t', '1', { timeout: 90_000 }),
        answerRule('/u', '1', { pipelineConfig: unknown }),
        { pathPattern: '/api/auth/*', targetUrl: 'http://localhost:3000/api/auth' },
      ]),
    )
    expect(made).toMatchObject({ created: rulesOf(2) })
    const warnings = (made['warnings'] as string[]).join('\n')
    expect(warnings).toContain('the timeout of 90000 ms was set to 60000 (1 rule: GET /t)')
    expect(warnings).toContain('teleport_handler')
    expect(warnings).toContain('is left out: every site serves /api/auth/* itself (1 rule: ANY /api/auth/*)')
    const answer = await app.call('GET', '/u', { host })
    expect(answer.status).toBe(501)
    expect((await answer.json()).message).toContain('teleport_handler')
    const { rules } = await get(`/api/proxy-rule-sets/${id(made)}`)
    expect(rules.map((rule: Json) => rule['timeout'])).toEqual([60_000, 30_000])
  })
})

const withSchema = (schemaId: string): Json => ({
  pathPattern: '/s',
  method: 'GET',
  pipelineConfig: { steps: [{ id: 'list', handlerType: 'data_query', config: { schemaId } }] },
})

describe('schemas', () => {
  test('resolve by name and by the id of the push', async () => {
    const schemas = [{ id: 'local-1', ...MESSAGES }]
    const made = await sync(push([withSchema('local-1')], { schemas }))
    const { rules } = await get(`/api/proxy-rule-sets/${id(made)}`)
    expect(rules[0].pipelineConfig.steps[0].config.schemaId).toBe('$schema:messages')
    expect(await visit('/s')).toBe('200 {"success":true,"data":[]}')
    expect(await sync(push([withSchema('$schema:messages')], { schemas: [MESSAGES] }))).toMatchObject({
      unchanged: rulesOf(1),
    })
  })

  test('an unknown name is refused; an expression is checked when it runs', async () => {
    for (const unknown of ['others', "'others'", '$schema:nobody', crypto.randomUUID()]) {
      const refused = await sync(push([withSchema(unknown)], { schemas: [MESSAGES] }), { key }, 400)
      expect(refused['message']).toContain('it has messages')
      expect(refused['details']).toMatchObject([{ path: 'rules[0].pipelineConfig.steps[0].config.schemaId' }])
    }
    const bare = await sync(push([withSchema('messages')], { schemas: [MESSAGES] }), { key }, 400)
    expect(bare['message']).toContain('write $schema:messages for the schema messages')
    await sync(push([withSchema('request.query.of')], { schemas: [MESSAGES] }))
    expect(await visit('/s?of=%24schema%3Amessages')).toBe('200 {"success":true,"data":[]}')
  })

  test('gain fields, keep types and are never deleted', async () => {
    await sync(push([], { schemas: [MESSAGES] }))
    const fields = [
      { name: 'text', type: 'integer' },
      { name: 'mood', type: 'string' },
    ]
    const changed = await sync(push([], { schemas: [{ name: 'messages', fields }] }))
    expect(changed).toMatchObject({ schemaResolutions: [{ action: 'reuse', fieldMismatch: true }] })
    expect(changed['warnings']).toEqual([
      'Schema messages: text is string on the server and integer in the push; the stored type stays',
    ])
    const { schemas } = await get(`/api/schemas?projectId=${projectId}`)
    expect(schemas[0].fields).toMatchObject([
      { name: 'text', type: 'string' },
      { name: 'mood', type: 'string' },
    ])
    const options = { strictSchemas: true, prune: true }
    const refused = await sync(
      push([answerRule('/a', '1')], { schemas: [{ name: 'messages', fields }], options }),
      { key },
      400,
    )
    expect(refused['message']).toBe('Schema messages: text is string on the server and integer in the push')
    expect(await sync(push([], { options }))).toMatchObject({ created: [] })
    expect((await get(`/api/schemas?projectId=${projectId}`)).schemas).toHaveLength(1)
  })

  test('a bad one undoes the whole push', async () => {
    const broken = { name: 'other', fields: [{ name: 'x', type: 'colour' }] }
    const refused = await sync(push([answerRule('/a', '1')], { schemas: [MESSAGES, broken] }), { key }, 400)
    expect(refused['details']).toMatchObject([{ path: 'schemas[1].fields[0].type' }])
    expect(await get(`/api/schemas?projectId=${projectId}`)).toEqual({ schemas: [] })
    await sync(push([], { schemas: [MESSAGES, MESSAGES] }), { key }, 400)
  })
})

describe('header values', () => {
  const backend = (value: string, targetUrl = 'https://api.test/v1', name = 'x-service-key'): Json => ({
    pathPattern: '/backend/*',
    targetUrl,
    headerConfig: { add: { [name]: value } },
  })
  const stored = async (setId: string) =>
    (await get(`/api/proxy-rule-sets/${setId}`)).rules[0].headerConfig.add

  test('an empty value keeps the stored one, and is reported while there is none', async () => {
    const made = await sync(push([backend('')]))
    expect(made['missingSecrets']).toEqual(['x-service-key'])
    const filled = await sync(push([backend(SECRET)]), { as: ADMIN })
    expect(filled).toMatchObject({ updated: rulesOf(1), missingSecrets: [] })
    expect(await sync(push([backend('', undefined, 'X-Service-Key')]))).toMatchObject({ missingSecrets: [] })
    expect(await sync(push([backend('', undefined, 'X-Service-Key')]))).toMatchObject({
      unchanged: rulesOf(1),
    })
    expect(Object.values(await stored(id(made)))).toEqual([SECRET])
    expect(await sync(push([backend(SECRET, undefined, 'X-Service-Key')]))).toMatchObject({
      unchanged: rulesOf(1),
    })
    const rows = app.ctx.db.sqlite.query('SELECT header_config FROM proxy_rules').all()
    expect(JSON.stringify(rows)).not.toContain(SECRET)
  })

  test('who may not see a value cannot send it to another host', async () => {
    const made = await sync(push([backend(SECRET)]), { as: ADMIN })
    expect(await sync(push([backend('', 'https://api.test/v2')]))).toMatchObject({ missingSecrets: [] })
    const options = { dryRun: true }
    expect(await sync(push([backend('', 'https://evil.test/')], { options }))).toMatchObject({
      missingSecrets: ['x-service-key'],
    })
    expect(await stored(id(made))).toEqual({ 'x-service-key': SECRET })
    expect(await sync(push([backend('', 'https://evil.test/')]))).toMatchObject({
      missingSecrets: ['x-service-key'],
    })
    expect(await sync(push([backend('', 'https://api.test/v1')]))).toMatchObject({
      missingSecrets: ['x-service-key'],
    })
    expect(await stored(id(made))).toEqual({ 'x-service-key': '' })
  })

  const withHost = (add: Json): Json => ({
    pathPattern: '/backend/*',
    targetUrl: 'https://api.test/v1',
    headerConfig: { add },
  })

  test('who may not see a value cannot send it to another site of the host', async () => {
    const made = await sync(push([backend(SECRET)]), { as: ADMIN })
    expect(await sync(push([withHost({ 'x-service-key': '', Host: 'evil.example' })]))).toMatchObject({
      missingSecrets: ['x-service-key'],
    })
    expect(await stored(id(made))).toEqual({ 'x-service-key': '', Host: 'evil.example' })
    await sync(push([backend(SECRET)]), { as: ADMIN })
    expect(await sync(push([{ ...backend(''), preserveHost: true }]))).toMatchObject({
      missingSecrets: ['x-service-key'],
    })
  })

  test('a push that leaves Host as it is keeps the values', async () => {
    const made = await sync(push([withHost({ 'x-service-key': SECRET, Host: 'shop.test' })]), { as: ADMIN })
    await sync(push([withHost({ 'x-service-key': '', host: '' })]))
    await sync(push([withHost({ 'x-service-key': '', host: 'shop.test', 'x-more': '1' })]))
    expect(await stored(id(made))).toMatchObject({ 'x-service-key': SECRET, host: 'shop.test' })
  })

  test('a rollback answers what became of the rules, as a push does, and a dry run changes nothing', async () => {
    const source = { repo: 'acme/site', gitSha: 'a'.repeat(40), path: '.svc/proxy-rules/guestbook' }
    const made = await sync(push([answerRule('/a', '1'), answerRule('/b', '1')], { source }))
    app.advance(1000)
    await sync(push([answerRule('/a', '2'), answerRule('/c', '1')], { options: { prune: true } }))
    const path = `/api/proxy-rule-sets/${id(made)}`
    const listed = async () => (await get(`${path}/revisions`)).revisions as Json[]
    const shown = async () =>
      (await listed()).map(({ trigger, current, ruleCount }) => [trigger, current, ruleCount])
    expect(await shown()).toEqual([
      ['sync', true, 2],
      ['sync', false, 2],
    ])
    expect((await listed()).map(({ source }) => source)).toEqual([null, source])
    const target = (await listed()).find(({ current }) => current === false)?.['id']
    const lists = {
      ruleSetId: id(made),
      created: [{ pathPattern: '/b', method: 'GET' }],
      updated: [{ pathPattern: '/a', method: 'GET' }],
      deleted: [{ pathPattern: '/c', method: 'GET' }],
      unchanged: [],
      pruneCandidates: [],
      schemaResolutions: [],
      missingSecrets: [],
      warnings: [],
      setCreated: false,
    }
    const rollback = async (json?: Json) => {
      const sent = json === undefined ? {} : { json }
      const answer = await app.call('POST', `${path}/rollback/${target}`, { key, ...sent })
      expect(answer.status).toBe(200)
      return answer.json()
    }
    expect(await rollback({ dryRun: true })).toMatchObject({ ...lists, dryRun: true })
    expect(await visit('/c')).toBe('200 1')
    expect(await listed()).toHaveLength(2)
    expect(await rollback({ dryRun: false })).toMatchObject({
      ...lists,
      dryRun: false,
      name: 'guestbook',
      rules: rulesOf(2),
    })
    expect(await visit('/b')).toBe('200 1')
    expect(await shown()).toEqual([
      ['rollback', true, 2],
      ['sync', false, 2],
      ['sync', true, 2],
    ])
    expect(await rollback()).toMatchObject({ created: [], updated: [], deleted: [], unchanged: rulesOf(2) })
  })

  test('a rollback by who may not see a value cannot take away the Host it is sent with', async () => {
    const made = await sync(push([withHost({ 'x-service-key': SECRET })]), { as: ADMIN })
    await sync(push([withHost({ 'x-service-key': '', Host: 'shop.test' })]), { as: ADMIN })
    const path = `/api/proxy-rule-sets/${id(made)}`
    const { revisions } = await get(`${path}/revisions`)
    const back = await app.call('POST', `${path}/rollback/${revisions[1].id}`, { key })
    expect(back.status).toBe(200)
    expect(await stored(id(made))).toEqual({ 'x-service-key': '' })
  })

  test('an admin may', async () => {
    const made = await sync(push([backend(SECRET)]), { as: ADMIN })
    expect(await sync(push([backend('', 'https://else.test/')]), { as: ADMIN })).toMatchObject({
      missingSecrets: [],
    })
    expect(await stored(id(made))).toEqual({ 'x-service-key': SECRET })
  })

  test('are not exported, kept in revisions or shown to contributors', async () => {
    const made = await sync(push([backend(SECRET)]), { as: ADMIN })
    const paths = ['', '/export', '/revisions']
    for (const path of paths) {
      const answer = await app.call('GET', `/api/proxy-rule-sets/${id(made)}${path}`, { key })
      expect(await answer.text()).not.toContain(SECRET)
    }
    const kept = app.ctx.db.sqlite
      .query<{ content: string }, []>('SELECT content FROM rule_set_revisions')
      .all()
    expect(JSON.stringify(kept)).not.toContain(SECRET)
    expect(
      JSON.stringify(app.ctx.db.sqlite.query('SELECT before, after FROM audit_log').all()),
    ).not.toContain(SECRET)
  })
})

describe('previews and aliases', () => {
  test.each([
    ['guestbook-pr-12', true],
    ['guestbook-preview', true],
    ['guestbook-dev-ann', true],
    ['guestbook-dev-', true],
    ['guestbook-pr-7\u2028x', true],
    ['guestbook-previews', false],
    ['guestbook-x-pr-1', false],
    ['Guestbook-pr-1', false],
    ['guestbook-prod', false],
    ['guestbookpr', false],
    ['other-pr-1', false],
  ])('%s: preview %p', async (name, isPreview) => {
    await sync(push([answerRule('/who', '"base"')]))
    const made = await sync(push([answerRule('/only', '"copy"')], { ruleSet: { name } }))
    expect((made['warnings'] as string[]).some((text) => text.includes('preview'))).toBe(isPreview)
    expect(await get(`/api/proxy-rule-sets/${id(made)}`)).toMatchObject({
      isPreview,
      liveOn: isPreview ? 'aliases' : 'project',
    })
    expect(await visit('/only')).toStartWith(isPreview ? '404' : '200')
  })

  test('a set attached to an alias is live only there, also after a push', async () => {
    const staging = await seed(`site${counter}`, 'staging', 'b'.repeat(40))
    const made = await sync(push([answerRule('/a', '1')]))
    const path = `/api/proxy-rule-sets/${id(made)}`
    const set = await app.call('PATCH', path, { key, json: { aliases: ['staging'] } })
    expect(await set.json()).toMatchObject({ aliases: ['staging'], liveOn: 'aliases' })
    expect(await visit('/a')).toStartWith('404')
    expect(await visit('/a', staging.aliasHost ?? '')).toBe('200 1')
    await sync(push([answerRule('/a', '2')]))
    expect(await visit('/a', staging.aliasHost ?? '')).toBe('200 2')
    expect((await app.call('PATCH', path, { key, json: { aliases: ['nope'] } })).status).toBe(404)

    const kept = await app.call('DELETE', path, { key })
    expect(kept.status).toBe(409)
    expect((await kept.json()).message).toContain('staging')
    expect((await app.call('PATCH', path, { key, json: { liveOn: 'project' } })).status).toBe(400)
    await app.call('PATCH', path, { key, json: { aliases: [] } })
    expect(await visit('/a')).toStartWith('404')
    const detached = app.ctx.db.sqlite.query(
      `SELECT target_id FROM audit_log WHERE action = 'rule_set.detach'`,
    )
    expect(detached.all()).toEqual([{ target_id: path.split('/').at(-1) }])
    await app.call('PATCH', path, { key, json: { liveOn: 'project' } })
    expect(await visit('/a')).toBe('200 2')
    expect((await app.call('DELETE', path, { key })).status).toBe(204)
    expect(await visit('/a')).toStartWith('404')
    expect((await app.call('GET', path, { key })).status).toBe(404)
  })

  test('a taken name is 409', async () => {
    const made = await sync(push([]))
    await sync(push([], { ruleSet: { name: 'other' } }))
    const answer = await app.call('PATCH', `/api/proxy-rule-sets/${id(made)}`, {
      key,
      json: { name: 'other' },
    })
    expect(answer.status).toBe(409)
  })

  test('a rule changed to the path and method of another is 409', async () => {
    const made = await sync(push([answerRule('/a', '1'), answerRule('/b', '2')]))
    const { rules } = await get(`/api/proxy-rule-sets/${id(made)}`)
    const answer = await app.call('PATCH', `/api/proxy-rules/${rules[1].id}`, {
      key,
      json: { pathPattern: '/a' },
    })
    expect(answer.status).toBe(409)
    expect([await visit('/a'), await visit('/b')]).toEqual(['200 1', '200 2'])
  })

  test('a push turns a rule that was changed to another kind back into a pipeline', async () => {
    const rules = push([answerRule('/a', '1')])
    const made = await sync(rules)
    const [rule] = (await get(`/api/proxy-rule-sets/${id(made)}`)).rules
    const json = { proxyType: 'external_proxy', targetUrl: 'https://b.example', pipelineConfig: { old: 1 } }
    expect((await app.call('PATCH', `/api/proxy-rules/${rule.id}`, { key, json })).status).toBe(200)
    expect(await sync(rules)).toMatchObject({ updated: rulesOf(1) })
    expect(await visit('/a')).toBe('200 1')
  })

  test('an alias of another project is unknown, and so are its sets', async () => {
    const made = await sync(push([answerRule('/a', '1')]))
    const mine = { projectId, key }
    const other = await seed(`other${counter}`, 'elsewhere')
    const answer = await app.call('PATCH', `/api/proxy-rule-sets/${id(made)}`, {
      key,
      json: { aliases: ['elsewhere'] },
    })
    expect(answer.status).toBe(404)
    projectId = other.projectId
    const foreign = await sync(push([answerRule('/b', '1')]), { as: ADMIN })
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/export'],
      ['GET', '/revisions'],
    ] as const)
      expect(
        (await app.call(method, `/api/proxy-rule-sets/${id(foreign)}${path}`, { key: mine.key })).status,
      ).toBe(404)
    const { revisions } = await get(`/api/proxy-rule-sets/${id(foreign)}/revisions`)
    const crossed = `/api/proxy-rule-sets/${id(made)}/rollback/${revisions[0].id}`
    expect((await app.call('POST', crossed, { key: mine.key })).status).toBe(404)
  })
})

describe('revisions', () => {
  test('restore the old rules, and the header values that still exist', async () => {
    const rule = (body: string) => answerRule('/a', body)
    const made = await sync(
      push([
        rule('1'),
        { pathPattern: '/b/*', targetUrl: 'https://api.test', headerConfig: { add: { 'x-k': SECRET } } },
      ]),
      { as: ADMIN },
    )
    app.advance(10)
    await sync(
      push([
        rule('2'),
        { pathPattern: '/b/*', targetUrl: 'https://api.test/2', headerConfig: { add: { 'x-k': '' } } },
      ]),
    )
    const path = `/api/proxy-rule-sets/${id(made)}`
    const { revisions } = await get(`${path}/revisions`)
    expect(revisions).toHaveLength(2)
    const back = await app.call('POST', `${path}/rollback/${revisions[1].id}`, { as: ADMIN })
    expect(back.status).toBe(200)
    const { rules } = await back.json()
    expect(rules[1]).toMatchObject({
      targetUrl: 'https://api.test',
      headerConfig: { add: { 'x-k': SECRET } },
    })
    expect(await visit('/a')).toBe('200 1')
    expect((await get(`${path}/revisions`)).revisions).toHaveLength(3)
    expect((await app.call('POST', `${path}/rollback/${made['ruleSetId']}`, { key })).status).toBe(404)
  })

  test('the last 20', async () => {
    let setId = ''
    for (let i = 0; i < 23; i++) setId = id(await sync(push([answerRule('/a', String(i))])))
    const { revisions } = await get(`/api/proxy-rule-sets/${setId}/revisions`)
    expect(revisions).toHaveLength(20)
    await app.call('POST', `/api/proxy-rule-sets/${setId}/rollback/${revisions[19].id}`, { key })
    expect(await visit('/a')).toBe('200 3')
  })
})

test('an export is a push that changes nothing', async () => {
  const made = await sync(
    push(
      [
        withSchema('$schema:messages'),
        {
          pathPattern: '/b/*',
          targetUrl: 'https://api.test',
          headerConfig: { add: { 'x-k': SECRET }, strip: ['accept'] },
        },
      ],
      {
        schemas: [MESSAGES, { name: 'unused', fields: [{ name: 'a', type: 'json' }] }],
      },
    ),
    { as: ADMIN },
  )
  const exported = await get(`/api/proxy-rule-sets/${id(made)}/export`)
  expect(exported.schemas.map(({ name }: Json) => name)).toEqual(['messages', 'unused'])
  expect(await sync({ ...exported, options: { prune: true } })).toMatchObject({
    created: [],
    updated: [],
    deleted: [],
    unchanged: rulesOf(2),
    missingSecrets: [],
  })
})

test('the zip form attaches sets to the alias in the given order, and refuses unknown ones', async () => {
  await sync(push([answerRule('/a', '"one"')], { ruleSet: { name: 'one' } }))
  const two = await sync(push([answerRule('/a', '"two"')], { ruleSet: { name: 'two' } }))
  const upload = (fields: Record<string, string>) => {
    const form = new FormData()
    form.set('repository', `acme/site${counter}`)
    form.set('commitSha', 'c'.repeat(40))
    form.set('alias', 'beta')
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    form.set('file', new File([emptyZip()], 'site.zip', { type: 'application/zip' }))
    return app.call('POST', '/api/deployments/zip', { key, body: form })
  }
  expect((await upload({ proxyRuleSetName: 'three' })).status).toBe(400)
  const answer = await upload({ proxyRuleSetId: id(two), proxyRuleSetName: 'one' })
  expect(answer.status).toBe(201)
  const sets = (await get(`/api/proxy-rule-sets/project/${projectId}`)).ruleSets
  expect(sets.map((set: Json) => [set['name'], set['aliases'], set['liveOn']])).toEqual([
    ['one', ['beta'], 'aliases'],
    ['two', ['beta'], 'aliases'],
  ])
  expect(await visit('/a', `beta--site${counter}--acme.localhost`)).toBe('200 "one"')
})

/** A zip with one stored file, a.txt. */
function emptyZip(): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode('a.txt')
  const data = new TextEncoder().encode('a')
  const crc = Bun.hash.crc32(data)
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(20, 4)
  local.writeUInt32LE(crc, 14)
  local.writeUInt32LE(data.length, 18)
  local.writeUInt32LE(data.length, 22)
  local.writeUInt16LE(name.length, 26)
  const central = Buffer.alloc(46)
  central.writeUInt32LE(0x02014b50, 0)
  central.writeUInt16LE(20, 4)
  central.writeUInt16LE(20, 6)
  central.writeUInt32LE(crc, 16)
  central.writeUInt32LE(data.length, 20)
  central.writeUInt32LE(data.length, 24)
  central.writeUInt16LE(name.length, 28)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length + name.length, 12)
  end.writeUInt32LE(local.length + name.length + data.length, 16)
  return new Uint8Array(Buffer.concat([local, name, data, central, name, end]))
}
