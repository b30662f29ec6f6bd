import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatProblem } from '../domain/file-problems.ts'
import { findHandler } from '../pipelines/language/registry.ts'
import type { ServerSet } from '../rules/compare.ts'
import { compileSet } from '../rules/compile.ts'
import { layOutSet } from '../rules/pull.ts'
import { filesOf } from '../rules/set-files.ts'
import { ask } from '../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

/** Every handler with all of its keys, in the types that real sets use: accepted, stored, and pulled back as it was pushed. */

const FILES = {
  schemaId: '$schema:files',
  subDir: 'photos/{{user.id}}',
  allowedMimeTypes: ['image/*', 'application/pdf'],
}
const rule = { path: '/api/search', method: 'GET' }

const WILD: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  file_upload_handler: [
    {
      ...FILES,
      maxFileSize: 5_242_880,
      dateBucket: true,
      extraFields: { owner: 'user.id', note: 'input.note' },
    },
    { schemaId: '$schema:files', subDir: "'imports'", sourceUrl: 'request.body.url' },
  ],
  presigned_upload: [
    {
      subDir: 'videos',
      filename: 'request.body.filename',
      expiresIn: 900,
      maxFileSize: 524_288_000,
      allowedMimeTypes: ['video/mp4'],
      dateBucket: false,
      keyStrategy: 'verbatim',
      key: 'request.body.path',
    },
    { subDir: 'user.id' },
  ],
  register_upload: [
    {
      ...FILES,
      storageKey: 'request.body.storageKey',
      originalName: 'request.body.originalName',
      maxFileSize: 524_288_000,
      deleteOnViolation: false,
      extraFields: { owner: 'user.id' },
    },
  ],
  file_serve_handler: [
    { subDir: 'photos', cacheability: 'public', cacheMaxAge: 86_400, allowScripts: false },
    { key: 'reports/{{request.params[0]}}', cacheability: 'private' },
  ],
  signed_url: [{ path: 'steps.file.storage_path', expiresIn: 604_800, filename: 'steps.file.original_name' }],
  file_delete: [
    { prefix: 'photos/{{steps.file.id}}', dryRun: true },
    { key: 'steps.file.storage_path' },
    { keys: 'steps.files.paths' },
  ],
  data_upsert_many: [
    {
      schemaId: '$schema:files',
      items: 'steps.feed.entries',
      map: {
        filename: 'steps.item.guid',
        note: '{{steps.item.title}} ({{user.id}})',
        size: '0',
        owner: 'null',
      },
      dedupField: 'filename',
      dedupKey: ['{{user.id}}::{{steps.item.guid}}', 'steps.item.link'],
      updateFields: ['note', 'size'],
    },
    {
      schemaId: '$schema:files',
      items: 'request.body',
      map: { note: 'steps.item' },
      dedupField: 'filename',
      dedupKey: 'steps.item.id',
    },
  ],
  xml_feed_parse: [
    { urls: 'steps.feeds.urls', concurrency: 8, timeoutMs: 10_000 },
    { urls: ['https://example.com/feed.xml', 'input.url'] },
    { xml: 'request.body.xml' },
  ],
  ai_handler: [
    {
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      mode: 'chat',
      responseMode: 'stream',
      systemPrompt: 'You help {{user.email}}.',
      messagesField: 'messages',
      maxHistoryMessages: 20,
      maxTokens: 4096,
      temperature: 0.7,
      timeout: 120_000,
      apiKey: 'secrets.KEY',
    },
    {
      provider: 'openai',
      model: 'gpt-4o-mini',
      messageField: 'request.body.question',
      baseUrl: 'https://ai.example.com/v1',
    },
    { provider: 'google', model: 'gemini-2.5-flash', mode: 'completion', responseMode: 'message' },
  ],
  mcp_handler: [
    {
      serverInfo: { name: 'search', version: '1.0.0' },
      instructions: 'Search first.',
      tools: [
        {
          name: 'notes.search',
          title: 'Search',
          description: 'Finds notes',
          inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
          annotations: { readOnlyHint: true },
          _meta: { 'ui/resourceUri': 'ui://search' },
          visibility: ['model', 'app'],
          rule,
        },
        { name: 'save', inputSchema: { type: 'object' }, rule: { path: '/api/save' } },
      ],
      resources: {
        static: [{ uri: 'ui://search', name: 'Search', description: 'x', mimeType: 'text/html', rule }],
      },
    },
  ],
  oauth_protected_resource: [
    {
      resource: '/api/mcp',
      scopes: ['notes:read'],
      resourceName: 'Notes',
      resourceDocumentation: 'https://example.com/docs',
      authorizationServers: ['https://auth.example.com'],
    },
  ],
}

const SCHEMAS = [
  {
    name: 'files',
    fields: ['filename', 'storage_path', 'owner', 'note', 'size'].map((name) => ({
      name,
      type: 'string',
      required: false,
      unique: name === 'filename',
    })),
  },
]

/** Steps that the expressions name. */
const before = ['file', 'files', 'feed', 'feeds'].map((id) => ({
  id,
  handlerType: 'data_query',
  config: { schemaId: '$schema:files', limit: 10_000 },
}))

const ROWS = Object.entries(WILD)
  .filter(([handlerType]) => findHandler(handlerType) !== undefined)
  .flatMap(([handlerType, configs]) =>
    configs.map((config, i) => ({ handlerType, config, path: `/${handlerType}/${i}` })),
  )

let app: TestApp
let projectId: string
beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' })
  const files = { 'index.html': 'x' }
  ;({ projectId } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'wild',
    sha: '1'.repeat(40),
    alias: 'production',
    files,
  }))
})
afterAll(() => app.close())

const sync = (json: unknown) =>
  ask(app, 'PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, { as: SEED_OWNER, json })

test('the handlers for lists and feeds are among them', () => {
  const known = ROWS.map(({ handlerType }) => handlerType)
  expect(known).toContain('data_upsert_many')
  expect(known).toContain('xml_feed_parse')
})

test.each(ROWS)('$path is pushed, stored, pulled and pushed again', async ({ handlerType, config, path }) => {
  const name = path.replaceAll('/', '-').slice(1)
  const pipelineConfig = { steps: [...before, { handlerType, config: { condition: 'user', ...config } }] }
  const rules = [{ pathPattern: path, method: 'POST', pipelineConfig }]
  const pushed = await sync({ ruleSet: { name }, rules, schemas: SCHEMAS, options: {} })
  expect([pushed.status, pushed.body['details']]).toEqual([200, undefined])
  const warnings = pushed.body['warnings'] as string[]
  expect(warnings.filter((warning) => !warning.startsWith('the project has no secret '))).toEqual([])

  const exported = await ask(app, 'GET', `/api/proxy-rule-sets/${pushed.body['ruleSetId']}/export`, {
    as: SEED_OWNER,
  })
  const set = exported.body as unknown as ServerSet
  expect(set.rules[0]?.pipelineConfig).toEqual(pipelineConfig)

  const { texts, notes } = layOutSet(set)
  const { push, problems, warnings: told } = await compileSet(filesOf(name, texts))
  expect([notes, problems.map(formatProblem), told.map(formatProblem)]).toEqual([[], [], []])
  expect(push?.rules[0]?.pipelineConfig).toEqual(pipelineConfig)
  expect((await sync(push)).body).toMatchObject({
    created: [],
    updated: [],
    unchanged: [{ pathPattern: path }],
  })
})
