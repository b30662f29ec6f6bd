import { expect, test } from 'bun:test'
import { rounds } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { valuesOf, withValues } from './env-file.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const changed = (text: string, values: Record<string, string>): string | undefined => {
  const made = withValues(bytes(text), values)
  return made && Buffer.from(made).toString('latin1')
}

const read: [text: string, values: Record<string, string>][] = [
  ['A=1\nB=2', { A: '1', B: '2' }],
  ['A=1\r\nB=2\r\n', { A: '1', B: '2' }],
  ['# A=0\n; A=0\n\n  A = 1  \nno line\n', { A: '1' }],
  ['A=one two\t\n', { A: 'one two' }],
  ['A=1\nA=2\n', { A: '2' }],
  ['A=\nB=1', { A: '', B: '1' }],
  ['A="one # two"\nB=\'$x \\ "\'', { A: 'one # two', B: '$x \\ "' }],
  ['A="a\\"b\\\\c\\$d\\e"', { A: 'a"b\\c$d\\e' }],
  ['A="one\ntwo"\nB=1', { A: 'one\ntwo', B: '1' }],
  ['A="one\\\ntwo"\nB=1', { A: 'onetwo', B: '1' }],
  ['A=one\\\ntwo\nB=1', { A: 'onetwo', B: '1' }],
  ['A="one" \'two\' three "four"\n', { A: 'onetwothree "four"' }],
  ['A=it\'s "so"\n', { A: 'it\'s "so"' }],
  ['A=one\\ \n', { A: 'one ' }],
  ['A=h\u00c3\u00a4\n', { A: 'hä' }],
  // Before version 254 of systemd the second line is part of the comment.
  ['# one \\\nA=1\nB=2\n', { B: '2' }],
  ["A='open\nB=1\n", { A: 'open\nB=1\n' }],
]
test.each(read)('%j is read as systemd does', (text, values) => {
  expect(valuesOf(bytes(text))).toEqual(values)
})

const written: [text: string, values: Record<string, string>, made: string | undefined][] = [
  ['', { PORT: '80' }, 'PORT=80\n'],
  ['# ours\nPORT=1\nTLS=off\n', { PORT: '80' }, '# ours\nPORT=80\nTLS=off\n'],
  ['PORT=1\r\nTLS=off\r\n', { PORT: '80', HOST: '::1' }, 'PORT=80\r\nTLS=off\r\nHOST=::1\r\n'],
  ['PORT=1\nTLS=off', { TLS: 'auto' }, 'PORT=1\nTLS=auto'],
  ['PORT=1', { TLS: 'auto' }, 'PORT=1\nTLS=auto\n'],
  ['PORT=1\r\nHOST=x', { TLS: 'auto' }, 'PORT=1\r\nHOST=x\r\nTLS=auto\r\n'],
  // What says the same in another way stays.
  ['PORT = \'80\' \nTLS="off"', { PORT: '80', TLS: 'off' }, 'PORT = \'80\' \nTLS="off"'],
  ['  PORT = "1"  \n', { PORT: '80' }, '  PORT=80\n'],
  ['PORT=1\nPORT=2\n', { PORT: '80' }, 'PORT=1\nPORT=80\n'],
  ['#PORT=1\n', { PORT: '80' }, '#PORT=1\nPORT=80\n'],
  ['A="one\ntwo"\nPORT=1\\\n2\nB=3\n', { PORT: '80', A: 'x' }, 'A=x\nPORT=80\nB=3\n'],
  [
    '',
    { A: 'one two', B: 'a"b\\c$d`e', C: '', D: "it's" },
    'A="one two"\nB="a\\"b\\\\c\\$d\\`e"\nC=\nD="it\'s"\n',
  ],
  ['A=\u00ff\u0080\n', { PORT: '1' }, 'A=\u00ff\u0080\nPORT=1\n'],
  ['', { A: 'hä' }, 'A="h\u00c3\u00a4"\n'],
  ['A=one\\\n', { PORT: '1' }, 'A=one\\\n\nPORT=1\n'],
  ['# one\\', { PORT: '1' }, '# one\\\n\nPORT=1\n'],
  ["A='open\n", { PORT: '1' }, undefined],
  ["A='open\n", {}, "A='open\n"],
]
test.each(written)('%j with %j', (text, values, made) => {
  expect(changed(text, values)).toBe(made)
})

test('whatever the file holds, the value is read afterwards and no other changes', () => {
  const random = seededRandom(33)
  const parts = [
    'A',
    'B',
    'PORT',
    '=',
    '=',
    ' ',
    '\n',
    '\n',
    '\r\n',
    '"',
    "'",
    '\\',
    '#',
    ';',
    'x',
    '\u00e4',
    '$',
    '\t',
  ]
  for (let round = 0; round < rounds(3000, 300_000); round += 1) {
    const length = Math.floor(random() * 24)
    const text = Array.from({ length }, () => parts[Math.floor(random() * parts.length)]).join('')
    const value = Array.from({ length: 4 }, () => parts[Math.floor(random() * parts.length)]).join('')
    const wanted = { PORT: value }
    const made = withValues(bytes(text), wanted)
    if (made === undefined) continue
    expect([text, valuesOf(made)]).toEqual([text, { ...valuesOf(bytes(text)), ...wanted }])
    expect(withValues(made, wanted)).toEqual(made)
  }
})
