import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatProblem } from '../domain/file-problems.ts'
import { compareRules, completed, identityOf, type ServerRule, type ServerSet } from './compare.ts'
import { compileSet } from './compile.ts'
import { layOutSet } from './pull.ts'
import type { CompiledPush } from './push.ts'
import { filesOf } from './set-files.ts'

/** The state of a server after the push. */
const storedFrom = (push: CompiledPush): ServerSet => ({
  ruleSet: {
    name: push.ruleSet.name,
    description: push.ruleSet.description ?? null,
    environment: push.ruleSet.environment ?? null,
  },
  rules: push.rules.map(completed),
  schemas: push.schemas,
})

async function pulledAgain(set: ServerSet): Promise<CompiledPush> {
  const { texts, notes } = layOutSet(set)
  expect(notes).toEqual([])
  const names = [...texts.keys()].flatMap((path) => path.split('/'))
  expect(names.filter(({ length }) => length > 255)).toEqual([])
  const { push, problems } = await compileSet(filesOf('pulled', texts))
  expect(problems.map(formatProblem)).toEqual([])
  if (push === null) throw new Error('not reached')
  return push
}

const GOLDEN = join(import.meta.dir, 'golden')
const valid = readdirSync(GOLDEN).filter((name) => /^===\n\{/m.test(readFileSync(join(GOLDEN, name), 'utf8')))

test.each(valid)('push, pull, push of %s changes nothing', async (name) => {
  const text = readFileSync(join(GOLDEN, name), 'utf8')
  const push = JSON.parse(text.split(/^===\n/m)[1] ?? '') as CompiledPush
  const again = await pulledAgain(storedFrom(push))
  expect(compareRules(again, storedFrom(push))).toEqual([])
  expect(again.schemas).toEqual(push.schemas)
  expect(again.ruleSet).toEqual(push.ruleSet)
})

/** A seeded generator: every run gets the same numbers. */
function randomOf(seed: number): <T>(list: readonly T[]) => T {
  let state = seed
  return (list) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return list[state % list.length] as (typeof list)[number]
  }
}

const PATTERNS = [
  '/',
  '/api/*',
  '*.json',
  '/a/*/b',
  '/a b',
  '/é',
  '/.well-known/x',
  '/a//b',
  '/a*b',
  '/..',
  '/x/get',
  '/x/[y]',
  '*',
  '/node_modules/x',
  '/con-trol',
  `/${'long'.repeat(100)}`,
]
const METHODS = [null, 'GET', 'POST', 'DELETE', 'PROPFIND', 'M-SEARCH']
const TEXTS = [
  '',
  ' lead',
  'a: b',
  '# no comment',
  '{{x}}',
  'line\nline\n\n',
  '\ttab',
  'true',
  '1e3',
  '"quoted"',
  "it's",
  '- dash',
  '\r\n',
  '😀',
  '|',
  '!tag',
  '&a *b',
  '%',
  'é\u2028',
  '~',
]

test('any set of a server is written so that it reads back the same', async () => {
  const pick = randomOf(20261120)
  const flag = () => pick([true, false])
  const ruleOf = (): ServerRule => {
    const proxyType = pick(['pipeline', 'external_proxy', 'internal_rewrite'] as const)
    return {
      pathPattern: pick(PATTERNS),
      method: pick(METHODS),
      methods: null,
      proxyType,
      targetUrl: {
        pipeline: '',
        external_proxy: 'https://api.example.com/v1?x=1',
        internal_rewrite: '/app/',
      }[proxyType],
      stripPrefix: proxyType === 'pipeline' ? true : flag(),
      order: pick([0, 1, 2, 50, -3]),
      timeout: pick([30_000, 100, 60_000]),
      preserveHost: proxyType === 'pipeline' ? false : flag(),
      forwardCookies: proxyType === 'pipeline' ? false : flag(),
      headerConfig:
        proxyType === 'pipeline'
          ? null
          : pick([null, { add: { 'x-a': '' } }, { forward: ['accept'], strip: [] }]),
      pipelineConfig:
        proxyType === 'pipeline'
          ? {
              name: pick(TEXTS),
              steps: [
                {
                  id: 'text',
                  handlerType: 'response_handler',
                  config: { contentType: `'text/plain'`, body: pick(TEXTS).replaceAll('{{', '') },
                },
                {
                  id: pick(['code', 'a b', '../x']),
                  handlerType: 'function_handler',
                  config: {
                    code: pick([
                      'const handler = () => 1',
                      'var await = 1; var handler = () => await',
                      'const handler = () => import("x")',
                      'var handler = 1\r\n',
                    ]),
                  },
                },
              ],
            }
          : null,
      isEnabled: flag(),
      debugEnabled: flag(),
      description: pick([null, ...TEXTS]),
    }
  }
  for (let round = 0; round < 60; round++) {
    const rules = new Map(Array.from({ length: 12 }, () => ruleOf()).map((rule) => [identityOf(rule), rule]))
    const set = {
      ruleSet: { name: 'set', description: pick([null, ...TEXTS]), environment: null },
      rules: [...rules.values()],
      schemas: [],
    }
    const again = await pulledAgain(set)
    expect(compareRules(again, set)).toEqual([])
    expect(again.ruleSet.description ?? null).toBe(set.ruleSet.description)
  }
})

test('a rule that no file can express is left out, and the others are unchanged', async () => {
  const set = storedFrom({
    ruleSet: { name: 'set' },
    rules: ['/a', '/b', '/c'].map((pathPattern) => ({
      pathPattern,
      proxyType: 'internal_rewrite',
      targetUrl: '/',
    })),
    schemas: [],
    options: { prune: false, dryRun: false, strictSchemas: false },
  })
  const [first, ...others] = set.rules
  if (first === undefined) throw new Error('not reached')
  for (const left of [
    { ...first, method: 'SHOUT' },
    { ...first, method: 'GET', methods: ['POST'] },
  ]) {
    const { texts, notes } = layOutSet({ ...set, rules: [left, ...others] })
    expect(notes).toEqual([expect.stringContaining('was left out')])
    const { push, problems } = await compileSet(filesOf('pulled', texts))
    expect(problems.map(formatProblem)).toEqual([])
    expect(push && compareRules(push, { ...set, rules: others })).toEqual([])
  }
})

test('no folder takes the name of a file', () => {
  const rules = ['/', '/get.rule.yaml', '/get.rule.yaml/x', '/get.a.js'].map((pathPattern) => ({
    ...completed({ pathPattern, proxyType: 'internal_rewrite', targetUrl: '/' }, 0),
    method: 'GET',
  }))
  const { texts } = layOutSet({
    ruleSet: { name: 'set', description: null, environment: null },
    rules,
    schemas: [],
  })
  expect([...texts.keys()].filter((path) => path.includes('.rule.yaml/') || path.includes('.js/'))).toEqual(
    [],
  )
})
