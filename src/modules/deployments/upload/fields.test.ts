import { describe, expect, test } from 'bun:test'
import { parseOrder, targetOf, UploadFields } from './fields.ts'

const fieldsOf = (form: readonly [string, string][], query = '') => {
  const fields = new UploadFields(new URLSearchParams(query))
  for (const [name, value] of form) fields.add(name, value)
  return fields
}
const TARGET: [string, string][] = [
  ['repository', 'acme/docs'],
  ['commitSha', '3f2a9c1'],
]
const parse = (...more: [string, string][]) => parseOrder(fieldsOf([...TARGET, ...more]))

describe('targetOf', () => {
  test.each([
    [
      'owner and repo',
      [
        ['owner', 'acme'],
        ['repo', 'docs'],
      ],
      '',
      { owner: 'acme', repo: 'docs' },
    ],
    ['repository', [['repository', 'acme/docs']], '', { owner: 'acme', repo: 'docs' }],
    [
      'a half of each',
      [
        ['owner', 'acme'],
        ['repository', 'x/docs'],
      ],
      '',
      { owner: 'acme', repo: 'docs' },
    ],
    ['the query', [], 'owner=acme&repo=docs', { owner: 'acme', repo: 'docs' }],
    ['the form over the query', [['owner', 'acme']], 'owner=bob&repo=docs', { owner: 'acme', repo: 'docs' }],
    ['a half', [['owner', 'acme']], '', undefined],
    [
      'an empty half',
      [
        ['owner', 'acme'],
        ['repo', ' '],
      ],
      '',
      undefined,
    ],
    ['no slash', [['repository', 'docs']], '', undefined],
    ['three parts', [['repository', 'a/b/c']], '', undefined],
  ] as [string, [string, string][], string, { owner: string; repo: string } | undefined][])(
    '%s',
    (_, form, query, expected) => {
      expect(targetOf(fieldsOf(form, query))).toEqual(expected)
    },
  )
})

test('missing or empty fields are null', () => {
  expect(parse(['alias', ''], ['branch', '  '])).toEqual({
    asFiles: false,
    unwrap: false,
    force: false,
    ask: false,
    makesProject: false,
    leftOut: { paths: [], counts: { 'left-out': 0, 'secret-left-out': 0 } },
    owner: 'acme',
    repo: 'docs',
    commitSha: '3f2a9c1',
    branch: null,
    description: null,
    workflowName: null,
    workflowRunId: null,
    committedAt: null,
    tags: null,
    isPublic: false,
    alias: null,
    preview: { isNamed: false, expiresIn: null, pullRequest: null, pullRequestUrl: null },
    basePath: null,
    append: false,
    baseSha: null,
    ruleSets: { names: [], ids: [] },
  })
})

test.each([
  ['/dist', '/dist'],
  ['dist', '/dist'],
  ['./dist/', '/dist'],
  ['/packages/site/dist//', '/packages/site/dist'],
  ['\\dist\\web', '/dist/web'],
  ['/', ''],
  ['.', ''],
  ['./', ''],
])('basePath %p is %p', (given, expected) => {
  expect(parse(['basePath', given]).basePath).toBe(expected)
})

// In quadratic time, this would take longer than a test may.
test('a basePath of very many slashes is parsed quickly', () => {
  expect(parse(['basePath', `${'/'.repeat(200_000)}dist`]).basePath).toBe('/dist')
})

test.each([
  ['2026-11-20T12:00:00Z', Date.UTC(2026, 10, 20, 12)],
  ['2026-11-20T12:00:00.250+02:00', Date.UTC(2026, 10, 20, 10, 0, 0, 250)],
  ['2026-11-20', Date.UTC(2026, 10, 20)],
  ['2026-11-20T12:00:00', Date.UTC(2026, 10, 20, 12)],
  ['2026-11-20 12:00:00 +0200', Date.UTC(2026, 10, 20, 10)],
])('committedAt %p', (given, expected) => {
  expect(parse(['committedAt', given]).committedAt).toBe(expected)
})

test('lists are repeated or comma-separated', () => {
  const { tags, ruleSets } = parse(
    ['tags', 'a, b'],
    ['tags', 'c'],
    ['proxyRuleSetName', 'one'],
    ['proxyRuleSetNames', 'two,three'],
    ['proxyRuleSetIds', 'x'],
    ['proxyRuleSetIds', 'y'],
  )
  expect(tags).toEqual(['a', 'b', 'c'])
  expect(ruleSets).toEqual({ names: ['one', 'two', 'three'], ids: ['x', 'y'] })
})

test('a SHA is stored in lower case', () => {
  const fields = fieldsOf([
    ['repository', 'acme/docs'],
    ['commitSha', ' 3F2A9C1D\n'],
  ])
  expect(parseOrder(fields).commitSha).toBe('3f2a9c1d')
})
