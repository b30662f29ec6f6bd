import { expect, test } from 'bun:test'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { compileStep, holdsCondition, resolveValue } from './compile.ts'
import { ExpressionError, type Scope } from './expressions.ts'
import { BodyTemplate } from './handler.ts'
import type { PipelineStep } from './model.ts'
import { secretNames } from './references.ts'
import { handlerNames } from './registry.ts'
import { parseTemplate, renderTemplate } from './templates.ts'

/** Whatever is written in a step: the secrets that a run of it asks for are among those that are found without running it. */

const NAMES = ['A', 'KEY', '_x', 'ключ', 'a-b', '__proto__', '']
const AROUND = [
  '',
  ' ',
  '  ',
  '\n',
  '\t',
  '!',
  "'",
  '"',
  '\\',
  '{',
  '}',
  '{{',
  '}}',
  '{{{',
  '}}}',
  'text',
  '\u00a0',
]
const KEYS = [
  'body',
  'condition',
  'url',
  'headers',
  'code',
  'args',
  'fields',
  'to',
  'default',
  'x',
  'contentType',
]

test('no run asks for a secret that is not found by its name', () => {
  const random = seededRandom(seedOf('secrets in steps'))
  const pick = <T>(list: readonly T[], none: T): T => list[Math.floor(random() * list.length)] ?? none

  const name = () => pick(NAMES, 'A')
  const spelled = () => {
    const [dot, single, double] = [`secrets.${name()}`, `secrets['${name()}']`, `secrets["${name()}"]`]
    const odd = `secrets[${pick(['0', 'input.a', name(), "'A' + 'B'", 'secrets.A', "'\\A'"], '')}]`
    return pick(
      [dot, single, double, odd, 'secrets', `${dot}.b`, 'input.a', 'steps.a', "'{\\{secrets.A}}'"],
      dot,
    )
  }
  const text = (): string => {
    const tag = () => pick([`{{${spelled()}}}`, `{{{${spelled()}}}}`, `{{ ${spelled()} }}`, spelled()], '')
    const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, tag)
    return parts.map((part) => `${pick(AROUND, '')}${part}${pick(AROUND, '')}`).join('')
  }
  const value = (depth: number): unknown => {
    if (depth === 0 || random() < 0.6) return random() < 0.5 ? spelled() : text()
    if (random() < 0.4) return [value(depth - 1), value(depth - 1)]
    return object(depth - 1)
  }
  const object = (depth: number): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: 3 }, () => [pick(KEYS, 'x'), value(depth)]))

  let asked = 0
  for (let i = 0; i < rounds(3000, 100_000); i++) {
    const step: PipelineStep = { id: 's', handlerType: pick(handlerNames(), ''), config: object(2) }
    const used = secretsAskedBy(step)
    asked += used.size
    const found = new Set(secretNames({ steps: [step] }))
    for (const one of used)
      if (!found.has(one)) throw new Error(`${one} is not found in ${JSON.stringify(step)}`)
  }
  expect(asked).toBeGreaterThan(1000)
})

/** The names that a run of the step asks for, in any mode of its body. */
function secretsAskedBy(step: PipelineStep): Set<string> {
  const names = new Set<string>()
  const scope: Scope = {
    root: () => ({ a: '{{secrets.HIDDEN}}' }),
    secret(name) {
      names.add(name)
      return '{{secrets.HIDDEN}}'
    },
    now: () => '',
    uuid: () => '',
  }
  const { config, condition } = compileStep(step, 'step_1')
  holdsCondition(condition, scope)
  const { body } = resolveValue(config, scope) as { body?: unknown }
  if (body instanceof BodyTemplate)
    for (const mode of ['text', 'json', 'html'] as const) renderIn(body.text, mode, scope)
  return names
}

function renderIn(text: string, mode: 'text' | 'json' | 'html', scope: Scope): void {
  try {
    renderTemplate(parseTemplate(text, mode), scope)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
  }
}

test('also in validators, in steps that are off, after the answer, and of handlers of a newer version', () => {
  const step = (config: Record<string, unknown>, more: Partial<PipelineStep> = {}) => ({
    id: 's',
    handlerType: 'response_handler',
    config,
    ...more,
  })
  const found = secretNames({
    validators: [{ type: 'hmac', config: { key: 'secrets.VALIDATOR' } }],
    steps: [
      step({ body: '{{secrets.OFF}}' }, { isEnabled: false }),
      step({ apiKey: 'secrets.NEWER', body: 'secrets.NEWER_BODY' }, { handlerType: 'ai_handler' }),
      step({ condition: '! !secrets.CONDITION', headers: { a: { b: ['{{secrets.NESTED}}'] } } }),
      step({ code: 'secrets.CODE' }, { handlerType: 'function_handler' }),
      step({ args: { k: "secrets['ARGS']" } }, { handlerType: 'function_handler' }),
    ],
    postSteps: [step({ url: 'x', headers: { auth: '{{{secrets.POST}}}' } }, { handlerType: 'http_request' })],
  })
  expect(found.sort()).toEqual(
    ['ARGS', 'CONDITION', 'NESTED', 'NEWER', 'NEWER_BODY', 'OFF', 'POST', 'VALIDATOR'].sort(),
  )
})
