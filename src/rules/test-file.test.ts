import { expect, test } from 'bun:test'
import { formatProblem } from '../domain/file-problems.ts'
import { readYaml } from '../domain/yaml-file.ts'
import { readFunctionTests, readRuleTests } from './test-file.ts'

const CASE = 'tests:\n  - name: one\n    expect: { status: 200 }\n'

test.each([
  ['request: { path: api/x }', 'tests[0].request.path must be a path, which begins with /'],
  ['request: { method: "GET IT" }', 'tests[0].request.method must be an HTTP method, such as POST'],
  [
    'request: { headers: { "no name": x } }',
    'tests[0].request.headers must be headers, but "no name" is not one',
  ],
  ['request: { headers: { x: "a\\nb" } }', 'tests[0].request.headers must be headers, but "x" is not one'],
  ['request: { headers: [x] }', 'tests[0].request.headers must be a map'],
  [
    'request: { json: {}, form: {} }',
    'tests[0].request.form cannot be sent together with json: use one of json, form, multipart and body',
  ],
  [
    'request: { body: x, form: {} }',
    'tests[0].request.body cannot be sent together with form: use one of json, form, multipart and body',
  ],
  [
    'request: { json: {}, multipart: {} }',
    'tests[0].request.multipart cannot be sent together with json: use one of json, form, multipart and body',
  ],
  ['request: { multipart: [a] }', 'tests[0].request.multipart must be a map of names to parts'],
  [
    'request: { multipart: { file: { filename: a.png } } }',
    'must be a map of names to parts, but "file" needs either text or path',
  ],
  [
    'request: { multipart: { file: { text: a, path: b } } }',
    'must be a map of names to parts, but "file" needs either text or path',
  ],
  [
    'request: { multipart: { file: { text: a, size: 5 } } }',
    'must be a map of names to parts, but "file" has the key size; allowed: filename, type, text, path',
  ],
  [
    'request: { multipart: { file: [a, [b]] } }',
    'must be a map of names to parts, but "file" is neither a text nor a map',
  ],
  [
    'files: { a.png: { filename: b, text: c } }',
    'but "a.png" has the key filename; allowed: type, text, path',
  ],
  ['request: { query: text }', 'tests[0].request.query must be a map'],
  ['records: { notes: 5 }', 'tests[0].records must be a map of schemas to lists of records'],
  ['records: { notes: [text] }', 'tests[0].records must be a map of schemas to lists of records'],
  ['secrets: { KEY: [a] }', 'tests[0].secrets must be a map of names to texts'],
  ['user: { role: owner }', 'tests[0].user email is required'],
  ['user: { email: [a] }', 'tests[0].user.email must be a text of at most 200 characters'],
  ['user: ann@example.com', 'tests[0].user must be a map with the keys email, role, globalRole'],
  [
    'reqest: {}',
    'tests[0].reqest is not known here; allowed: name, records, files, secrets, outside, user, schedule, request, expect. Did you mean request?',
  ],
])('%s is refused with its position', (line, message) => {
  const { problems } = readRuleTests(readYaml('a.rule.test.yaml', `${CASE}    ${line}\n`))
  const [first] = problems.map(formatProblem)
  expect(first).toMatch(/^a\.rule\.test\.yaml:4:\d+ /)
  expect(first).toEndWith(message)
})

test.each([
  ['status: 20', 'tests[0].expect.status must be a status such as 200'],
  ['headers: { "a b": x }', 'tests[0].expect.headers must be headers, but "a b" is not one'],
  ['files: many', 'tests[0].expect.files must be a whole number from 0 to 9007199254740991'],
  ['file: a.png', 'tests[0].expect.file must be a map with the keys path, size, contentType'],
  ['file: { name: a.png }', 'tests[0].expect.file.name is not known here; allowed: path, size, contentType.'],
  ['bodyContains: 5', 'tests[0].expect.bodyContains must be a text or a list of texts'],
  [
    'records: { notes: many }',
    'tests[0].expect.records must be a map of schemas to a number, or to a list of records',
  ],
])('expect cannot contain %s', (line, message) => {
  const yaml = readYaml('a.rule.test.yaml', `tests:\n  - name: one\n    expect: { ${line} }\n`)
  expect(readRuleTests(yaml).problems.map(({ message }) => message)).toEqual([message])
})

test('a case with every possible key', () => {
  const text = `tests:
  - name: one
    records: { notes: [{ text: a }] }
    secrets: { KEY: value, PIN: 7 }
    user: { email: ann@example.com, role: owner, globalRole: user }
    request: { method: post, path: /api/x, query: { a: 1 }, headers: { x-count: 5 }, json: [1] }
    expect: { status: 201, headers: { x-a: b }, body: { a: 1 }, bodyContains: [a], records: { notes: 1, others: [] } }
  - name: two
    user: null
    expect: {}
`
  const { tests, problems } = readRuleTests(readYaml('a.rule.test.yaml', text))
  expect(problems).toEqual([])
  expect(tests.map(({ name, line }) => [name, line])).toEqual([
    ['one', 2],
    ['two', 8],
  ])
})

test('a case of a function either returns or throws', () => {
  const { problems } = readFunctionTests(readYaml('a.fn.test.yaml', 'tests:\n  - name: one\n    input: {}\n'))
  expect(problems.map(({ message }) => message)).toEqual(['tests[0] must have either returns or throws'])
})
