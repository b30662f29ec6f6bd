import { describe, expect, test } from 'bun:test'
import { HANDLERS, handlerDocs } from './registry.ts'
import { validatePipelineConfig } from './validate.ts'

const step = (handlerType: string, config: unknown, more: object = {}) => ({
  id: 'a',
  handlerType,
  config,
  ...more,
})
const pathsOf = (value: unknown) => {
  const { errors, warnings } = validatePipelineConfig(value)
  return {
    errors: errors.map(({ path }) => path),
    warnings: warnings.map(({ kind, path }) => `${kind} ${path}`),
  }
}

const nameless = (more: Record<string, unknown>) => ({ handlerType: 'response_handler', ...more })

test.each<[what: string, steps: unknown[]]>([
  [
    'the spec’s own pipeline',
    [
      {
        id: 'form',
        name: 'Form',
        handlerType: 'form_handler',
        config: { fields: { email: { type: 'email', required: true } } },
      },
      {
        id: 'save',
        handlerType: 'data_create',
        config: { schemaId: '$schema:contacts', fields: { email: 'steps.form.email' } },
      },
      { id: 'all', handlerType: 'data_query', config: { schemaId: '$schema:contacts', pageSize: 50 } },
      {
        id: 'answer',
        handlerType: 'response_handler',
        config: { body: '{"ok":true,"all":{{{steps.all}}}}', status: 200, contentType: 'application/json' },
      },
    ],
  ],
  [
    'a condition beside a config',
    [step('email_handler', { to: 'input.to', subject: 's', body: 'b', condition: '!input.no' })],
  ],
  ['no step at all', []],
])('%s is good', (_, steps) => {
  expect(validatePipelineConfig({ steps })).toEqual({ errors: [], warnings: [] })
})

describe('says where the problem is', () => {
  test.each<[value: unknown, errors: string[], warnings?: string[]]>([
    [null, ['']],
    [{}, ['steps']],
    [{ steps: [{ id: 'a' }] }, ['steps[0].handlerType']],
    [{ steps: [step('teleport', {})] }, [], ['unknown_handler steps[0].handler']],
    [{ steps: [], extra: 1 }, [], ['unknown_key extra']],
    [
      { steps: [step('form_handler', { fields: { a: { type: 'colour' } } })] },
      ['steps[0].config.fields.a.type'],
    ],
    [
      { steps: [step('form_handler', { fields: { a: { type: 'string', requierd: true } } })] },
      [],
      ['unknown_key steps[0].config.fields.a.requierd'],
    ],
    [
      { steps: [step('form_handler', { fields: { a: { type: 'string', pattern: '(' } } })] },
      ['steps[0].config.fields.a.pattern'],
    ],
    [
      { steps: [step('form_handler', { fields: { errors: { type: 'string' } }, failOnError: false })] },
      ['steps[0].config.fields.errors'],
    ],
    [{ steps: [step('form_handler', { fields: { errors: { type: 'string' } } })] }, []],
    [{ steps: [step('form_handler', { fields: {}, failOnError: 'no' })] }, ['steps[0].config.failOnError']],
    [{ steps: [step('data_create', { fields: {} })] }, ['steps[0].config.schemaId']],
    [
      { steps: [step('data_create', { schemaId: 's', fields: { a: 'steps..x' } })] },
      ['steps[0].config.fields.a'],
    ],
    [{ steps: [step('data_delete', { schemaId: 's' })] }, ['steps[0].config']],
    [{ steps: [step('data_update', { schemaId: 's', recordId: 'input.id' })] }, ['steps[0].config']],
    [{ steps: [step('data_delete', { schemaId: 's', filters: {} })] }, ['steps[0].config']],
    [
      { steps: [step('data_query', { schemaId: 's', filters: { 'a.b': { op: 'equals', value: 1 } } })] },
      ['steps[0].config.filters.a.b.op'],
    ],
    [
      { steps: [step('data_update', { schemaId: 's', filters: { a: { op: '=', value: 1 } }, fields: {} })] },
      ['steps[0].config.filters.a.op'],
    ],
    [
      { steps: [step('data_query', { schemaId: 's', orderBy: { field: 'a', direction: 'up' } })] },
      ['steps[0].config.orderBy.direction'],
    ],
    [
      { steps: [step('db_aggregate', { schemaId: 's', operation: 'total', filters: { a: { op: 'is' } } })] },
      ['steps[0].config.operation', 'steps[0].config.filters.a.op'],
    ],
    [
      {
        steps: [
          step('data_query', {
            schemaId: 's',
            filters: { a: { op: 'request.query.op' }, b: { op: "'in'" }, c: { op: '{{input.op}}' } },
            orderBy: { field: 'a', direction: 'asc' },
          }),
        ],
      },
      [],
    ],
    [
      {
        steps: [
          step('data_query', {
            schemaId: 's',
            filters: {
              a: [{ op: 'gt', value: 1 }, { op: '<' }, { value: 2 }, 3],
              b: 4,
              c: [{ op: 'eq', valeu: 5 }],
            },
          }),
        ],
      },
      [
        'steps[0].config.filters.a[1].op',
        'steps[0].config.filters.a[2].op',
        'steps[0].config.filters.a[3]',
        'steps[0].config.filters.b',
      ],
      ['unknown_key steps[0].config.filters.c[0].valeu'],
    ],
    [
      { steps: [step('data_query', { schemaId: 's', filters: { a: [{ op: 'gt' }, { op: '<' }] } })] },
      ['steps[0].config.filters.a[1].op'],
    ],
    [{ steps: [step('data_update', { schemaId: 's', filters: { a: [] }, add: {} })] }, ['steps[0].config']],
    [
      {
        steps: [step('data_update', { schemaId: 's', recordId: 'x', fields: { a: 1 }, add: { a: 1, b: 1 } })],
      },
      ['steps[0].config.add.a'],
    ],
    [{ steps: [step('data_query', { schemaId: 's', pageSize: true })] }, ['steps[0].config.pageSize']],
    [{ steps: [step('response_handler', { body: '{{steps.}}' })] }, ['steps[0].config.body']],
    [
      { steps: [step('email_handler', { to: 'x', subject: 'user feedback', body: 'b' })] },
      ['steps[0].config.subject'],
    ],
    [{ steps: [step('function_handler', {})] }, ['steps[0].config.code']],
    [{ steps: [step('response_handler', { condition: 'steps.' })] }, ['steps[0].config.condition']],
    [{ steps: [step('response_handler', {}), step('response_handler', {})] }, ['steps']],
    [
      { steps: [step('response_handler', { body: '{{steps.b}}', headers: { x: 'steps.a' } })] },
      [],
      ['unknown_name steps[0].config.body', 'unknown_name steps[0].config.headers.x'],
    ],
    [
      {
        steps: [],
        postSteps: [step('email_handler', { to: 'user.mail', subject: 's', body: 'request.bdy' })],
      },
      [],
      ['unknown_name postSteps[0].config.to', 'unknown_name postSteps[0].config.body'],
    ],
    [
      { steps: ['a step', step('data_create', {}), { handlerType: 'form_handler', config: { fields: 1 } }] },
      ['steps[0]', 'steps[1].config.fields', 'steps[1].config.schemaId', 'steps[2].config.fields'],
    ],
    [
      {
        steps: [
          { handlerType: 'response_handler' },
          step('response_handler', {}, { id: 5, name: {} }),
          step('response_handler', { body: '{{steps.b}}' }, { id: 'z' }),
        ],
      },
      ['steps[1].id', 'steps[1].name'],
      ['unknown_name steps[2].config.body'],
    ],
    [{ steps: [step('form_handler', { fields: { ['k'.repeat(501)]: { a: 1, b: 2 } } })] }, ['']],
    [{ steps: [step('response_handler', {}, { id: '__proto__' })] }, ['steps[0].id']],
    [
      { steps: [], postSteps: [step('data_create', {})] },
      ['postSteps[0].config.schemaId', 'postSteps[0].config.fields'],
    ],
    [{ steps: [], validators: [{ type: 'captcha' }] }, [], ['unknown_validator validators[0].type']],
    [
      {
        steps: [],
        validators: [{ type: 'auth_required', requiredScopes: ['a'], config: { scopes: ['a'] } }],
      },
      [],
      ['unknown_key validators[0].requiredScopes', 'unknown_key validators[0].config.scopes'],
    ],
    [{ steps: [], validators: [{ type: 'auth_required', config: { requiredScopes: ['a', 'b'] } }] }, []],
    [
      { steps: [], validators: [{ type: 'auth_required', config: { requiredScopes: 'a' } }] },
      ['validators[0].config.requiredScopes'],
    ],
    [{ steps: [nameless({ name: 'constructor' })] }, ['steps[0].name']],
    [{ steps: [nameless({ name: 'a' }), step('response_handler', {}, { id: 'a' })] }, ['steps']],
    [{ steps: [nameless({}), nameless({ id: 'step_1' })] }, ['steps']],
    [{ steps: [nameless({})], postSteps: [nameless({ id: 'step_1' })] }, ['steps']],
    [{ steps: [nameless({ id: 'post_step_1' })], postSteps: [nameless({})] }, ['steps']],
    [{ steps: [nameless({}), nameless({ id: 'step_3' }), nameless({ name: '' })] }, ['steps']],
    [{ steps: [nameless({}), nameless({ id: 'step_9' })], postSteps: [nameless({})] }, []],
    [
      {
        steps: [nameless({}), nameless({ name: 'n' })],
        postSteps: [nameless({ config: { body: '{{steps.step_1}}{{steps.n}}{{steps.step_2}}' } })],
      },
      [],
      ['unknown_name postSteps[0].config.body'],
    ],
    [
      { steps: [], validators: [{ type: 'rate_limit', config: { limit: 0 } }] },
      ['validators[0].config.windowSeconds', 'validators[0].config.limit'],
    ],
    [
      { steps: [], validators: [{ type: 'auth_required', config: { rolse: ['admin'] } }] },
      [],
      ['unknown_key validators[0].config.rolse'],
    ],
  ])('%j', (value, errors, warnings = []) => {
    const found = pathsOf(value)
    expect({ errors: found.errors.sort(), warnings: found.warnings }).toEqual({
      errors: errors.sort(),
      warnings,
    })
  })
})

/** Errors, and what a push only warns of because it fails when it runs. */
function foreseen(pipeline: object): { path: string; message: string }[] {
  const { errors, warnings } = validatePipelineConfig(pipeline)
  const late = warnings.filter(({ kind }) => kind === 'never_works')
  return [...errors, ...late].map(({ path, message }) => ({ path, message }))
}

describe('numbers of a step', () => {
  const NUMBERS: [handler: string, key: string, config: object, least: number, most: number][] = [
    ['function_handler', 'timeout', { code: 'function handler() {}' }, 1, 30_000],
    ['http_request', 'timeout', { url: "'https://x.ch'" }, 1, 60_000],
    ['data_query', 'pageSize', { schemaId: 's' }, 1, 10_000],
    ['data_query', 'limit', { schemaId: 's' }, 1, 10_000],
  ]
  const flawsOf = (handler: string, config: object) => foreseen({ steps: [step(handler, config)] })

  test.each(NUMBERS)('%s: %s keeps its limits', (handler, key, config, least, most) => {
    const message = `must be a whole number from ${least} to ${most}`
    for (const value of [least - 1, most + 1, String(most + 1), `'${most + 1}'`, 1.5, 'many'])
      expect([value, flawsOf(handler, { ...config, [key]: value })]).toEqual([
        value,
        [{ path: `steps[0].config.${key}`, message }],
      ])
    for (const value of [least, most, String(most), `'${most}'`, '', 'input.most', '{{input.most}}'])
      expect([value, flawsOf(handler, { ...config, [key]: value })]).toEqual([value, []])
  })

  test('page and offset have no upper limit', () => {
    expect(flawsOf('data_query', { schemaId: 's', page: 1_000_000, offset: 0 })).toEqual([])
    expect(flawsOf('data_query', { schemaId: 's', page: 0, offset: -1 })).toEqual([
      { path: 'steps[0].config.page', message: 'must be a whole number of at least 1' },
      { path: 'steps[0].config.offset', message: 'must be a whole number of at least 0' },
    ])
  })
})

describe('a constant that can never work', () => {
  const flawsOf = (handler: string, config: object) =>
    foreseen({ steps: [step(handler, config)] }).map(({ path }) => path)

  test.each<[handler: string, config: object, key: string]>([
    ['response_handler', { status: 999 }, 'status'],
    ['response_handler', { status: 'created' }, 'status'],
    ['response_handler', { status: 199 }, 'status'],
    ['response_handler', { body: 'hello' }, 'body'],
    ['response_handler', { body: '{ a: 1 }' }, 'body'],
    ['response_handler', { body: 'hello', contentType: 'application/problem+json' }, 'body'],
    ['response_handler', { body: 'hello', contentType: "'application/json'", status: '201' }, 'body'],
    ['function_handler', { code: 'const handler = (=> 1' }, 'code'],
    ['function_handler', { code: 'const main = () => 1' }, 'code'],
    ['function_handler', { code: 'export const handler = () => 1' }, 'code'],
    ['function_handler', { code: '' }, 'code'],
    ['aggregate_handler', { schemaId: 's', operation: 'sum' }, 'field'],
    ['db_aggregate', { schemaId: 's', operation: "'avg'", field: "''" }, 'field'],
    ['http_request', { url: 'http://x.y' }, 'url'],
    ['http_request', { url: "'x.y'" }, 'url'],
    ['http_request', { url: '' }, 'url'],
    ['http_request', { url: 'https://x.y', headers: { 'a b': '1' } }, 'headers.a b'],
    ['http_request', { url: 'https://x.y', headers: { 'x-a': '日本' } }, 'headers.x-a'],
    ['response_handler', { headers: { 'x-a:': '1' } }, 'headers.x-a:'],
    ['response_handler', { headers: { 'x-a': ['ok', "'a\\nb'"] } }, 'headers.x-a'],
    ['http_request', { url: 'https://x.y', method: 'GET /' }, 'method'],
  ])('%s %j is refused', (handler, config, key) => {
    expect(flawsOf(handler, config)).toEqual([`steps[0].config.${key}`])
  })

  test.each<[handler: string, config: object]>([
    ['response_handler', { status: '' }],
    ['response_handler', { status: 'steps.a.status', body: 'hello' }],
    ['response_handler', { status: '{{input.status}}' }],
    ['response_handler', { body: 'hello {{input.name}}' }],
    ['response_handler', { body: 'hello', contentType: 'text/plain' }],
    ['response_handler', { body: 'hello', contentType: 'input.type' }],
    ['response_handler', { body: 'hello', status: 204 }],
    ['response_handler', { body: ' ' }],
    ['response_handler', { body: '"hello"' }],
    ['function_handler', { code: 'handler = () => 1' }],
    ['aggregate_handler', { schemaId: 's', operation: 'count' }],
    ['aggregate_handler', { schemaId: 's', operation: 'input.operation' }],
    ['aggregate_handler', { schemaId: 's', operation: 'sum', field: 'input.field' }],
    ['http_request', { url: 'https://x.y', method: 'post' }],
    ['http_request', { url: 'https://{{input.host}}/', method: 'input.method' }],
    ['http_request', { url: 'secrets.URL' }],
    [
      'response_handler',
      { headers: { location: '/日本', 'x-a': 'Zoë', 'x-b': '日本{{input.a}}', 'x-c': { a: '日本' } } },
    ],
  ])('%s %j is good', (handler, config) => {
    const steps = [step('form_handler', { fields: {} }, { id: 'b' }), step(handler, config)]
    expect(foreseen({ steps })).toEqual([])
  })

  test('is told together with whatever else is wrong with the step', () => {
    expect(flawsOf('response_handler', { status: 999, body: 'hello', contentType: 5 })).toEqual([
      'steps[0].config.contentType',
      'steps[0].config.status',
    ])
    expect(flawsOf('http_request', { timeout: 0, method: 'GET /' })).toEqual([
      'steps[0].config.url',
      'steps[0].config.method',
      'steps[0].config.timeout',
    ])
  })

  test('a role that does not exist', () => {
    const config = { roles: ['contributor', 'editor', 'member', 'Admin'] }
    const found = foreseen({ steps: [], validators: [{ type: 'auth_required', config }] })
    const message = 'must be one of guest, viewer, contributor, admin, owner, user, member'
    expect(found).toEqual([
      { path: 'validators[0].config.roles[1]', message },
      { path: 'validators[0].config.roles[3]', message },
    ])
  })
})

describe('the default of a field', () => {
  const flawOf = (field: object) => foreseen({ steps: [step('form_handler', { fields: { f: field } })] })

  test.each<[field: object, message: string]>([
    [{ type: 'integer', default: 'x' }, 'must be a whole number'],
    [{ type: 'integer', default: 1.5 }, 'must be a whole number'],
    [{ type: 'integer', default: 500, max: 10 }, 'must be at most 10'],
    [{ type: 'email', default: 'nope' }, 'must be an email address'],
    [{ type: 'string', default: 'no', min: 3 }, 'must be at least 3 characters'],
    [{ type: 'string', default: 'No', pattern: '[a-z]+' }, 'does not have the right form'],
    [{ type: 'boolean', default: 'perhaps' }, 'must be true or false'],
    [{ type: 'string', default: { a: 'input.b' } }, 'must be a text'],
  ])('%j is refused', (field, message) => {
    expect(flawOf(field)).toEqual([{ path: 'steps[0].config.fields.f.default', message }])
  })

  test.each([
    { type: 'integer', default: '5' },
    { type: 'boolean', default: 1 },
    { type: 'string', default: 8001, max: 4 },
    { type: 'string', default: "''", min: 3, required: true },
    { type: 'json', default: { a: 'input.b' } },
    { type: 'integer', default: 'request.query.n' },
    { type: 'integer', default: '{{request.query.n}}' },
    { type: 'integer', default: null, required: true },
  ])('%j is good', (field) => {
    expect(flawOf(field)).toEqual([])
  })
})

test('the report of unknown names stays small, whatever was sent', () => {
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, 'steps.nobody.x']))
  const steps = Array.from({ length: 100 }, (_, i) => ({
    id: `${'long'.repeat(20)}${i}`,
    handlerType: 'data_create',
    config: { schemaId: '$schema:a', fields },
  }))
  const { warnings } = validatePipelineConfig({ steps })
  expect(warnings).toHaveLength(2000)
  expect(Math.max(...warnings.map(({ message }) => message.length))).toBeLessThan(600)
})

test('every handler and every key of it is documented', () => {
  const docs = handlerDocs()
  for (const { names } of HANDLERS) for (const name of names) expect(docs).toContain(`\`${name}\``)
  expect(docs).not.toMatch(/^- `\w+`: *$/m)
})
