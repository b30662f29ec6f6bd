import { describe, expect, test } from 'bun:test'
import { ExpressionError, type Scope } from './expressions.ts'
import { JsonText } from './json-text.ts'
import {
  parseTemplate,
  renderTemplate,
  type TemplateMode,
  TemplateTooLarge,
  templateModeOf,
} from './templates.ts'

const scopeOf = (values: Record<string, unknown>): Scope => ({
  root: () => values,
  secret: () => null,
  now: () => 'now',
  uuid: () => 'id',
})

const values = {
  name: 'Ann "A" <b>&\n',
  n: 5,
  yes: true,
  none: null,
  list: [{ id: 1 }],
  lazy: new JsonText('[1,2]'),
  tag: '{{steps.secret}}{{{steps.secret}}}',
  secret: 'never',
}

const render = (source: string, mode: TemplateMode = 'text', scope = scopeOf(values)) =>
  renderTemplate(parseTemplate(source, mode), scope)

test.each<[source: string, mode: TemplateMode, expected: string]>([
  ['plain', 'text', 'plain'],
  ['', 'json', ''],
  ['Hi {{steps.n}}!', 'text', 'Hi 5!'],
  ['{{steps.none}}|{{{steps.none}}}', 'text', '|null'],
  ['{{steps.missing}}|{{{steps.missing}}}', 'text', '|null'],
  ['{{steps.yes}}', 'text', 'true'],
  ['{{steps.list}}', 'text', '[{"id":1}]'],
  ['{{{steps.list}}}', 'text', '[{"id":1}]'],
  ['{{{steps.lazy}}}', 'json', '[1,2]'],
  ['{{steps.name}}', 'text', 'Ann "A" <b>&\n'],
  ['{{{steps.name}}}', 'html', 'Ann "A" <b>&\n'],
  ['<p>{{steps.name}}</p>', 'html', '<p>Ann &quot;A&quot; &lt;b&gt;&amp;\n</p>'],
  ['{"name":"{{steps.name}}"}', 'json', '{"name":"Ann \\"A\\" <b>&\\n"}'],
  ['{"list":"{{steps.list}}"}', 'json', '{"list":"[{\\"id\\":1}]"}'],
  ['{"n":{{steps.n}}}', 'json', '{"n":5}'],
  ['{"list":{{{steps.list}}}}', 'json', '{"list":[{"id":1}]}'],
  ['{"a":{"list":{{{steps.list}}}}}', 'json', '{"a":{"list":[{"id":1}]}}'],
  ['{"q":"\\"{{steps.name}}","n":{{steps.n}}}', 'json', '{"q":"\\"Ann \\"A\\" <b>&\\n","n":5}'],
  ['{{{{steps.n}}}}', 'text', '{5}'],
  ['{{\'}}\'}} {{ "{{" }}', 'text', '}} {{'],
  ["{{steps.list['}}']}}|{{steps['name'][0][\"}}\"]}}|", 'text', '||'],
  ['{{"open}} {{"x"}}', 'text', '"open x'],
  ["{{steps['n']}}", 'text', '5'],
  ["{{don't}}", 'text', "don't"],
  ['{{{ steps.n }}}', 'text', '5'],
  ['a { b } }} c', 'text', 'a { b } }} c'],
  ['{{steps.tag}}', 'text', '{{steps.secret}}{{{steps.secret}}}'],
])('%s as %s', (source, mode, expected) => {
  expect(render(source, mode)).toBe(expected)
})

test.each<[source: string, mode: TemplateMode, position: number]>([
  ['a {{steps.n', 'text', 2],
  ['a {{{steps.n}}', 'text', 2],
  ['{{}}', 'text', 0],
  ['ab {{ steps. }}', 'text', 12],
  ['{"a":"\\{{steps.n}}"}', 'json', 7],
])('%s is wrong at %p', (source, mode, position) => {
  expect(() => parseTemplate(source, mode)).toThrow(ExpressionError)
  try {
    parseTemplate(source, mode)
  } catch (error) {
    expect((error as ExpressionError).position).toBe(position)
  }
})

test.each<[contentType: string, mode: TemplateMode]>([
  ['application/json', 'json'],
  ['application/json; charset=utf-8', 'json'],
  ['application/problem+json', 'json'],
  ['text/html; charset=utf-8', 'html'],
  ['application/xhtml+xml', 'html'],
  ['image/svg+xml', 'html'],
  ['text/plain', 'text'],
  ['text/csv', 'text'],
  ['application/jsonp', 'text'],
])('%s is %s', (contentType, mode) => {
  expect(templateModeOf(contentType)).toBe(mode)
})

test('the output of a template is bounded', () => {
  const large = scopeOf({ big: 'x'.repeat(4_000_000) })
  expect(() => render('{{steps.big}}'.repeat(100), 'text', large)).toThrow(TemplateTooLarge)
})

describe('for any values', () => {
  /** A small seeded generator: the same seed gives the same values. */
  const random = (seed: number) => () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }
  const CHARS = [
    '"',
    '\\',
    '{',
    '}',
    '{{',
    '}}',
    '{{{steps.secret}}}',
    "'",
    '\n',
    '\u0000',
    '\u2028',
    '\ud800',
    'é',
    '<',
    '&',
    ',',
    ':',
    'a',
    '1',
    ' ',
  ]
  const text = (next: () => number) =>
    Array.from({ length: Math.floor(next() * 12) }, () => CHARS[Math.floor(next() * CHARS.length)]).join('')
  const value = (next: () => number, depth = 3): unknown => {
    const kind = Math.floor(next() * (depth === 0 ? 4 : 6))
    if (kind === 0) return text(next)
    if (kind === 1) return next() * 1e6 - 5e5
    if (kind === 2) return next() < 0.5
    if (kind === 3) return null
    const length = Math.floor(next() * 4)
    if (kind === 4) return Array.from({ length }, () => value(next, depth - 1))
    return Object.fromEntries(Array.from({ length }, () => [text(next), value(next, depth - 1)]))
  }

  test('a JSON body with quoted texts and whole values is valid JSON with these values', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const next = random(seed)
      const given = { text: text(next), value: value(next), secret: 'SECRET' }
      const rendered = render(
        '{"t": "<{{steps.text}}>", "v": "{{steps.value}}", "o": [{{{steps.wrapped}}}]}',
        'json',
        scopeOf({ ...given, wrapped: { inner: given.value } }),
      )
      expect(JSON.parse(rendered)).toEqual({
        t: `<${given.text}>`,
        v:
          given.value === null
            ? ''
            : typeof given.value === 'object'
              ? JSON.stringify(given.value)
              : String(given.value),
        o: [{ inner: given.value }],
      })
    }
  })

  test('inserted values are never parsed again', () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const next = random(seed)
      const [a, b] = [text(next), text(next)]
      expect(render('{{steps.a}}|{{{steps.b}}}', 'text', scopeOf({ a, b, secret: 'SECRET' }))).toBe(
        `${a}|${b}`,
      )
    }
  })

  test('a value cannot inject markup into HTML', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const rendered = render('<p title="{{steps.a}}">', 'html', scopeOf({ a: text(random(seed)) }))
      expect(rendered.slice(10, -2)).not.toMatch(/[<>"']/)
    }
  })

  test('any text is parsed or refused in linear time', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const source = text(random(seed)).repeat(50)
      try {
        render(source, 'json')
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionError)
      }
    }
    expect(() => parseTemplate('{{'.repeat(200_000), 'json')).toThrow(ExpressionError)
  })
})
