import { describe, expect, test } from 'bun:test'
import { ExpressionError, evaluate, parseExpression, ROOTS, type Scope } from './expressions.ts'
import { JsonText } from './json-text.ts'

const body = JSON.parse(
  '{"name":"Ann","__proto__":{"a":1},"constructor":{"b":2},"list":[{"x":1},[2,3]],"a-b":{"c d":4}}',
)
const roots: Record<string, unknown> = {
  steps: {
    form: { email: 'ann@example.com', none: null },
    query: new JsonText('[{"id":"r1"}]'),
    'My step': 7,
  },
  request: { body, query: {}, method: 'POST', headers: { 'content-type': 'text/plain' } },
  input: { q: 'x' },
  user: null,
  project: { id: 'p' },
  deployment: { alias: 'production' },
}
const scope: Scope = {
  root: (name) => roots[name === 'metadata' ? 'request' : name],
  secret: (name) => (name === 'TOKEN' ? 's3cret' : null),
  now: () => '2026-11-20T12:00:00.000Z',
  uuid: () => 'some-id',
}
const valueIn = (source: string) => evaluate(parseExpression(source), scope)

test.each<[source: string, value: unknown]>([
  ['steps.form.email', 'ann@example.com'],
  ['  steps.form.email  ', 'ann@example.com'],
  ['steps.query[0].id', 'r1'],
  ['steps.query.0.id', 'r1'],
  ['steps.query.length', 1],
  ["steps['My step']", 7],
  ['request.body.name', 'Ann'],
  ['metadata.body.name', 'Ann'],
  ['request.body.list[1][0]', 2],
  ["request.body['a-b']['c d']", 4],
  ['request.body["a-b"]["c d"]', 4],
  ["request.headers['content-type']", 'text/plain'],
  ["request.headers['Content-Type']", 'text/plain'],
  ["metadata.headers['CONTENT-TYPE']", 'text/plain'],
  ['input.q', 'x'],
  ['user.id', null],
  ['user', null],
  ['project.id', 'p'],
  ['deployment.alias', 'production'],
  ['secrets.TOKEN', 's3cret'],
  ['secrets.OTHER', null],
  ['secrets.TOKEN.length', null],
  ["secrets['TOKEN']", 's3cret'],
  ['secrets["TOKEN"]', 's3cret'],
  ['now()', '2026-11-20T12:00:00.000Z'],
  ['uuid()', 'some-id'],
  ['12', 12],
  ['0', 0],
  ['0.5', 0.5],
  ['-1.5e3', -1500],
  ['true', true],
  ['false', false],
  ['null', null],
  ["'it\\'s'", "it's"],
  ['"a\\nb"', 'a\nb'],
  ['', ''],
])('%s', (source, value) => {
  expect(valueIn(source)).toEqual(value)
})

describe('a text whose first word has no meaning stands for itself', () => {
  test.each([
    'hello',
    'New message',
    'https://example.com/a?b=c',
    '2026-11-20',
    '5 apples',
    '007',
    'user@example.com',
    'uuid@example.com',
    'truely',
    'nowhere',
    'now',
    'stepsize.a',
    "'open",
    "'a' and 'b'",
    '$schema:contacts',
    '1+1',
    'globalThis.process',
    '  x ',
  ])('%p', (source) => {
    expect(valueIn(source)).toBe(source)
  })
})

describe('secrets alone, or indexed by anything but a quoted name, is null', () => {
  test.each([
    'secrets',
    '  secrets ',
    'secrets[0]',
    'secrets[TOKEN]',
    'secrets[input.name]',
    "secrets[request.body['name']]",
    'secrets[steps.form[0]]',
    'secrets[secrets.TOKEN]',
    "secrets['TO' + 'KEN']",
    'secrets[`TOKEN`]',
    'secrets[]',
    'secrets[*]',
    'secrets[input.name].length',
  ])('%s', (source) => {
    expect(valueIn(source)).toBeNull()
    expect(parseExpression(source)).toEqual({ kind: 'path', root: 'secrets', keys: [] })
  })
})

describe('a missing path is null, and inherited properties are invisible', () => {
  test.each([
    'steps.nobody.email',
    'steps.form.none.deeper',
    'request.body.__proto__',
    'request.body.__proto__.a',
    'request.body.constructor',
    "request.body['constructor']['b']",
    'request.body.toString',
    'request.body.name.length',
    'steps.__proto__.polluted',
    'request.body.list[7]',
    'input.prototype',
  ])('%s', (source) => {
    expect(valueIn(source)).toBeNull()
  })
})

test.each<[source: string, position: number]>([
  ['steps.', 6],
  ['steps..a', 6],
  ['steps.a b', 7],
  ['user feedback', 4],
  ['request.headers.content-type', 23],
  ['steps[x]', 6],
  ['secrets.', 8],
  ['secrets[', 8],
  ["secrets['TOKEN", 8],
  ['secrets TOKEN', 7],
  ['secrets[x] + 1', 8],
  ['steps[0', 6],
  ["steps['a]", 6],
  ['  steps.a()', 9],
  ['now(1)', 0],
  ['now() + 1', 0],
  [`steps${'.a'.repeat(600)}`, 0],
  [`steps${'.a'.repeat(33)}`, 71],
])('%s is wrong at %p', (source, position) => {
  const failure = (() => {
    try {
      parseExpression(source)
    } catch (error) {
      return error
    }
    return undefined
  })()
  expect(failure).toBeInstanceOf(ExpressionError)
  expect((failure as ExpressionError).position).toBe(position)
})

test('every root is recognised', () => {
  for (const root of ROOTS) expect(parseExpression(root)).toEqual({ kind: 'path', root, keys: [] })
})

test('any text is parsed or refused, and the position of the error lies within it', () => {
  const PIECES = [
    ...ROOTS,
    'now()',
    'uuid(',
    '.',
    '..',
    '[',
    ']',
    '[0]',
    "['a']",
    "'",
    '"',
    '\\',
    ' ',
    '\n',
    '{{',
    'é',
    '1e9',
    '-',
  ]
  let state = 11
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % below
  }
  for (let round = 0; round < 20_000; round++) {
    const source = Array.from({ length: 1 + random(12) }, () => PIECES[random(PIECES.length)]).join('')
    try {
      evaluate(parseExpression(source), scope)
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionError)
      const { position } = error as ExpressionError
      expect(position >= 0 && position <= source.length).toBe(true)
    }
  }
  for (const piece of ["'", '\\', '[', 'steps[', "steps['", 'steps.a', '-', ' '])
    expect(() => {
      try {
        parseExpression(piece.repeat(200_000))
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
      }
    }).not.toThrow()
})
