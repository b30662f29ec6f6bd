import { describe, expect, test } from 'bun:test'
import { highlight, languageOf } from './highlight.ts'
import type { Piece } from './highlight-language.ts'

const textOf = (pieces: Awaited<ReturnType<typeof highlight>>): string | undefined =>
  pieces?.map(({ text }) => text).join('')

const files: [path: string, text: string, pieces: [text: string, kind: Piece['kind']][]][] = [
  [
    'index.html',
    '<!-- c --><p class="x">Hi</p><script>let a = 1</script><style>b{color:red}</style>',
    [
      ['<!-- c -->', 'comment'],
      ['class', 'value'],
      ['"x"', 'string'],
      ['let', 'keyword'],
      ['1', 'value'],
      ['color', 'name'],
    ],
  ],
  [
    'a.css',
    '/* c */ a { color: #fff } @media print {}',
    [
      ['/* c */', 'comment'],
      ['color', 'name'],
      ['#fff', 'value'],
      ['@media', 'keyword'],
    ],
  ],
  [
    'app.MJS',
    "import x from 'y' // c",
    [
      ['import', 'keyword'],
      ["'y'", 'string'],
      ['// c', 'comment'],
    ],
  ],
  [
    'a.tsx',
    'type A = { b: string }; const c = <i id="d" />',
    [
      ['type', 'keyword'],
      ['A', 'name'],
      ['id', 'value'],
    ],
  ],
  [
    'data.json',
    '{"a": ["x", 1, null]}',
    [
      ['"a"', 'name'],
      ['"x"', 'string'],
      ['null', 'value'],
    ],
  ],
  [
    'ci.yml',
    '# c\nname: "x"\n',
    [
      ['# c', 'comment'],
      ['name', 'name'],
      ['"x"', 'string'],
    ],
  ],
  [
    'README.md',
    '# Title\n\n`code`\n',
    [
      [' Title', 'name'],
      ['code', 'string'],
    ],
  ],
]

test.each(files)('%s is highlighted without losing text', async (path, text, expected) => {
  const pieces = await highlight(path, text)
  expect(textOf(pieces)).toBe(text)
  for (const [piece, kind] of expected) expect(pieces).toContainEqual({ text: piece, kind })
})

test.each(['a.txt', 'LICENSE', 'a.svg', 'a.js.gz', 'css'])('%s is shown plain', async (path) => {
  expect(languageOf(path)).toBeUndefined()
  expect(await highlight(path, 'let a')).toBeNull()
})

test('a long text is shown plain', async () => {
  expect(textOf(await highlight('a.js', 'x'.repeat(65_536)))).toHaveLength(65_536)
  expect(await highlight('a.js', 'x'.repeat(65_537))).toBeNull()
})

/** Each text keeps some parser busy for minutes, or is nested too deeply for the stack. */
describe('a file made to keep the server busy', () => {
  const stretches = [
    '[a](',
    '*a_',
    '**a',
    '/*',
    '* ',
    '${',
    '&a ',
    '[',
    '{"a":',
    '<a ',
    '<script>`${',
    '"\\',
    '- ',
  ]
  const paths = ['a.md', 'a.js', 'a.ts', 'a.css', 'a.html', 'a.json', 'a.yaml']
  test.each(paths)(
    'ends, whole or plain: %s',
    async (path) => {
      for (const stretch of stretches) {
        const text = stretch.repeat(30_000 / stretch.length)
        expect([text, undefined]).toContain(textOf(await highlight(path, text)))
      }
    },
    60_000,
  )

  test('lets other work run in between', async () => {
    const order: string[] = []
    const busy = highlight('a.js', '* '.repeat(30_000)).then(() => order.push('file'))
    await new Promise((resolve) => setTimeout(resolve, 1))
    order.push('other')
    await busy
    expect(order).toEqual(['other', 'file'])
  })
})
