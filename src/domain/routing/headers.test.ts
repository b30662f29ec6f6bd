import { expect, test } from 'bun:test'
import { findBasicAuth, parseHeaders } from './headers.ts'

test('blocks, removals, joined values and placeholders', () => {
  const { blocks, problems } = parseHeaders(`# all
/*
  X-Frame-Options: DENY
  cache-control: no-cache
Cache-Control: no-transform
  ! ETagless

https://site.test/:lang/*
  Link: </:lang/:splat/:other>; rel=canonical # kept
`)
  expect(problems).toEqual([])
  expect(blocks.map(({ line, source }) => [line, source.text])).toEqual([
    [2, '/*'],
    [8, 'https://site.test/:lang/*'],
  ])
  expect(blocks[0]?.set).toEqual([
    { line: 3, name: 'x-frame-options', value: ['DENY'] },
    { line: 4, name: 'cache-control', value: ['no-cache', ', ', 'no-transform'] },
  ])
  expect(blocks[0]?.unset).toEqual([{ line: 6, name: 'etagless' }])
  expect(blocks[1]?.set[0]?.value).toEqual([
    '</',
    { name: 'lang' },
    '/',
    { name: 'splat' },
    '/:other>; rel=canonical # kept',
  ])
})

const REFUSED: [text: string, lines: number[], reason: RegExp][] = [
  ['X-A: b\n/\n  X-A: b', [1], /before any path/],
  ['/\n  X-A\n  X-B: c', [2], /colon/],
  ['/\n  : b\n  X-B: c', [2], /no name/],
  ['/\n  X-A:\n  X-B: c', [2], /no value/],
  ['/\n  X A: b\n  X-B: c', [2], /no name of a header/],
  ['/\n  X-A: bü\n  X-B: c', [2], /printable/],
  ['/\n  X-A: b\rX: y\n  X-B: c', [2], /printable/],
  ['/a*b*\n  X-A: b\n  nonsense', [1], /more than one/],
  ['/a ?\n  X-A: b', [1], /blank/],
  ['/a?x=1\n  X-A: b', [1], /\?/],
  ['/a\n/b\n X-B: c', [1], /no line/],
  ['/a\n  nonsense', [1, 2], /no line/],
  [`/a\n  X-A: ${'a'.repeat(2_000)}\n  X-B: c`, [2], /longer/],
  [`/a\n  X-A: ${'a'.repeat(1_993)}\n   X-A: ${'a'.repeat(1_993)}`, [3], /longer/],
  ['/a\n  ! Vary\n  X-B: c', [2], /only added/],
  ...[
    'Connection',
    'Proxy-X',
    'transfer-encoding',
    'Content-Length',
    'ETag',
    'Set-Cookie',
    'Clear-Site-Data',
    'Location',
    'X-Svc-Commit',
    'Alt-Svc',
  ].flatMap((name): [string, number[], RegExp][] => [
    [`/a\n  ${name}: x\n  X-B: c`, [2], /belongs to the service/],
    [`/a\n  ! ${name}\n  X-B: c`, [2], /belongs to the service/],
  ]),
]
test.each(REFUSED)('%p is refused', (text, lines, reason) => {
  const { problems, refused } = parseHeaders(text)
  expect(problems.map(({ line }) => line)).toEqual(lines)
  expect(refused).toBe(lines.length)
  expect(problems[0]?.message).toMatch(reason)
})

test('100 blocks and 32 KiB of values count', () => {
  const blocks = Array.from({ length: 101 }, (_, n) => `/${n}\n  X-A: b\n`).join('')
  expect(parseHeaders(blocks).problems.map(({ line }) => line)).toEqual([201])
  const values = Array.from({ length: 34 }, (_, n) => `  X-${n}: ${'v'.repeat(1024)}\n`).join('')
  const {
    blocks: [all],
    problems,
  } = parseHeaders(`/\n${values}  X-Small: v\n`)
  expect(all?.set).toHaveLength(32)
  expect(problems.map(({ line }) => line)).toEqual([34, 35, 36])
})

test('a line that wants a password is found wherever it stands', () => {
  expect(parseHeaders('/a\n x-b: c\n/admin*x*\n  basic-AUTH : u:p').basicAuthLine).toBe(4)
  expect(findBasicAuth('Basic-Auth: u:p')).toBe(1)
  expect(findBasicAuth('/a\n  # Basic-Auth: u:p\n  X-A: Basic-Auth: x')).toBeNull()
})
