import { expect, test } from 'bun:test'
import { readRuleText, ruleText } from './one-rule.ts'

/** Whatever a stored pipeline holds, its YAML gives it back. contract 17.5. */
const RUNS = 150

/** Small, fast and seeded: mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const PIECES = [
  ...[
    'a',
    'B',
    '1',
    '-',
    ' ',
    '  ',
    '\n',
    '\n\n',
    '\t',
    '\r',
    '\r\n',
    '"',
    "'",
    '\\',
    '#',
    ' #',
    ': ',
    ':',
    ',',
    '[',
    ']',
  ],
  ...[
    '{',
    '}',
    '{{',
    '}}',
    '&a',
    '*a',
    '!t',
    '!!str',
    '|',
    '>',
    '%',
    '@',
    '`',
    '~',
    'null',
    'true',
    'yes',
    'no',
    '0x1f',
  ],
  ...[
    '1e3',
    '.inf',
    '.nan',
    '---',
    '...',
    '- ',
    '? ',
    '<<',
    '\u0000',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\ud800',
    'ü',
    '😀',
    '2026-01-01',
  ],
]

function anyValue(random: () => number, depth = 0): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const text = () => Array.from({ length: Math.floor(random() * 6) }, () => pick(PIECES)).join('')
  const kind = Math.floor(random() * (depth > 3 ? 4 : 6))
  if (kind < 2) return text()
  if (kind === 2) return pick([0, -1, 0.1, 1e21, 1e-7, 123456789012345680, 5e-324])
  if (kind === 3) return pick([true, false, null])
  const items = Array.from({ length: Math.floor(random() * 4) }, () => anyValue(random, depth + 1))
  return kind === 4 ? items : Object.fromEntries(items.map((item) => [text(), item]))
}

test('read again, the text of a rule gives its pipeline, in every order and spelling', async () => {
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = randomOf(seed)
    const config = Object.fromEntries(Array.from({ length: 4 }, (_, at) => [`k${at}`, anyValue(random)]))
    const pipelineConfig = {
      name: 'n',
      validators: [{ type: 'rate_limit', config }],
      steps: [
        { id: 'a', name: String(anyValue(random)), handlerType: 'response_handler', config },
        { handlerType: 'teleport', isEnabled: false },
      ],
      postSteps: [{ handlerType: 'function_handler', config: { code: String(anyValue(random)), ...config } }],
    }
    const rule = {
      pathPattern: '/x',
      method: 'POST',
      methods: null,
      proxyType: 'pipeline' as const,
      targetUrl: '',
      stripPrefix: true,
      order: 3,
      timeout: 30_000,
      preserveHost: false,
      forwardCookies: false,
      headerConfig: null,
      status: null,
      isEnabled: true,
      debugEnabled: false,
      description: String(anyValue(random)),
      pipelineConfig,
    }
    const sent = new TextDecoder().decode(new TextEncoder().encode(ruleText(rule)))
    const read = (await readRuleText(sent, [])).rule
    expect([seed, JSON.stringify(read?.pipelineConfig), read?.description]).toEqual([
      seed,
      JSON.stringify(pipelineConfig),
      rule.description,
    ])
  }
})
