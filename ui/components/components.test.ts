import { expect, test } from 'bun:test'
import { AppError } from '../../src/domain/errors.ts'
import { publishSnippets } from '../deployments/publish-snippets.ts'
import { badge, visibilityBadge } from './badge.ts'
import { countOf } from './chart.ts'
import { confirmDialog } from './confirm.ts'
import { describeUserAgent } from './describe-user-agent.ts'
import { checkbox, field, fieldError, formError, lineError, selectField } from './field.ts'
import { type Html, html, renderPage } from './html.ts'
import { notice } from './notice.ts'
import { pagination } from './pagination.ts'
import { progress } from './progress.ts'
import { shortSha } from './sha.ts'
import { formatSize } from './size.ts'
import { table } from './table.ts'
import { tabs } from './tabs.ts'
import { day, formatTime, time } from './time.ts'

const rows = [{ name: 'a', size: 3 }]
const options = [
  { value: 'x', label: 'X' },
  { value: 'y', label: 'Y' },
]

const pieces: [name: string, piece: Html, expected: string[], unexpected: string[]][] = [
  [
    'a field with an error',
    field({ name: 'email', label: 'Email', hint: 'Yours', error: 'Missing', value: 'a@b' }),
    [
      '<label for="email">Email</label>',
      'aria-describedby="email-error email-hint"',
      'aria-invalid="true"',
      'required',
    ],
    ['optional'],
  ],
  [
    'a field that may be empty',
    field({ name: 'note', label: 'Note', required: false }),
    ['optional'],
    ['required', 'aria-describedby', 'aria-invalid'],
  ],
  ['a field of its own id', field({ name: 'p', id: 'q', label: 'P' }), ['for="q"', 'id="q"', 'name="p"'], []],
  [
    'a select',
    selectField({ name: 's', label: 'S', options, value: 'y' }),
    ['<option value="y" selected>Y'],
    ['"x" sel'],
  ],
  [
    'a checkbox',
    checkbox({ name: 'c', label: 'C', hint: 'H' }),
    ['value="true"', 'aria-describedby="c-hint"'],
    ['checked'],
  ],
  ['a refusal', notice({ tone: 'bad', message: 'No', live: true }), ['role="alert"'], []],
  ['a success', notice({ tone: 'good', message: 'Yes', live: true }), ['role="status"'], []],
  ['a remark', notice({ tone: 'info', message: 'Note' }), [], ['role=']],
  ['a badge', badge('On', 'good'), ['badge-good'], ['title=']],
  ['a badge with a long label', badge('a-branch', 'good', 'a-branch'), ['title="a-branch"'], []],
  [
    'a commit',
    shortSha('0123456789abcdef'),
    ['class="nowrap"', 'title="0123456789abcdef"', '>0123456789ab<'],
    [],
  ],
  ['a public site', visibilityBadge(true), ['Public'], []],
  ['a private site', visibilityBadge(false), ['Private'], []],
  [
    'a table',
    table({
      caption: 'Files',
      rows,
      columns: [
        { label: 'Name', cell: (row) => row.name },
        { label: 'Size', cell: (row) => row.size, align: 'end' },
        { label: 'Actions', cell: () => 'x', hideLabel: true },
      ],
    }),
    [
      '<caption class="visually-hidden">Files',
      '<th scope="row" role="rowheader">a',
      'data-label="Size">3',
      'columnheader',
    ],
    ['data-label="Actions"'],
  ],
  [
    'a table that is scanned',
    table({ caption: 'Log', rows, columns: [{ label: 'Name', cell: (row) => row.name }], isDense: true }),
    ['<table class="table dense" role="table">'],
    [],
  ],
  [
    'tabs',
    tabs('Project', [
      { label: 'One', href: '/1', isCurrent: true },
      { label: 'Two', href: '/2' },
    ]),
    ['<a href="/1" aria-current="page">One'],
    ['href="/2" aria-current'],
  ],
  [
    'a question before the deed',
    confirmDialog(
      { id: 'd', opener: 'Go', title: 'Sure?', text: 'Really', confirm: 'Do it' },
      html`<i>in</i>`,
    ),
    [
      'popovertarget="d"',
      'id="d" class="dialog" popover role="dialog" aria-labelledby="d-title"',
      '<i>in</i>',
      'Do it',
    ],
    [],
  ],
  [
    'progress',
    progress({ id: 'p', label: 'Up', value: 1, max: 4, text: '1 of 4' }),
    ['value="1" max="4"', 'for="p"'],
    [],
  ],
  [
    'a moment',
    time('2026-11-20T09:05:00.000Z'),
    ['title="20 Nov 2026, 09:05 UTC" data-ago="true">20 Nov 2026, 09:05 UTC'],
    [],
  ],
  ['no moment', time(null), ['Never'], ['<time']],
  ['a day', day('2026-11-20T09:05:00.000Z'), ['data-day="true">20 Nov 2026<'], ['data-ago']],
  ['no day', day(null, 'Always'), ['Always'], ['<time']],
]

test.each(pieces)('%s', (_name, piece, expected, unexpected) => {
  const markup = renderPage(piece)
  for (const part of expected) expect(markup).toContain(part)
  for (const part of unexpected) expect(markup).not.toContain(part)
})

const sentences: [message: string, shown: string][] = [
  ['must be JSON', 'Must be JSON.'],
  ['At most 20 characters', 'At most 20 characters.'],
  ['Is this yours?', 'Is this yours?'],
  ['steps[0].id: is required', 'steps[0].id: is required.'],
]
test.each(sentences)('beside a field, %p is a sentence', (message, shown) => {
  const error = { message: 'Check the marked fields.', details: [{ path: 'a', message }] }
  expect(fieldError(error, 'a')).toBe(shown)
})

const hrefOf = (at: number) => `?page=${at}`

test('pagination leads to the neighbours that exist', () => {
  expect(pagination({ page: 1, pages: 1, total: 3, hrefOf })).toBeNull()
  const first = renderPage(html`<div>${pagination({ page: 1, pages: 3, total: 50, hrefOf })}</div>`)
  expect(first).toContain('href="?page=2"')
  expect(first).not.toContain('rel="prev"')
  expect(first).toContain('Page 1 of 3, 50 in all')
  const last = renderPage(html`<div>${pagination({ page: 3, pages: 3, total: 50, hrefOf })}</div>`)
  expect(last).toContain('href="?page=2"')
  expect(last).not.toContain('rel="next"')
})

test('an AppError is a form error', () => {
  const error = new AppError('invalid', 'Check it.', {
    details: [{ path: 'email', message: 'Not an email.' }],
  })
  expect(fieldError(error, 'email')).toBe('Not an email.')
  expect(fieldError(error, 'password')).toBeUndefined()
  expect(renderPage(html`<div>${formError(error)}</div>`)).toContain('Check it.')
  expect(formError(undefined)).toBeNull()
  expect(lineError(undefined)).toBeNull()
  expect(renderPage(html`<div>${lineError(error)}</div>`)).toContain('Check it.')
})

test('a form on one line does not repeat what its field says', () => {
  const message = 'No account has this email.'
  expect(lineError({ message, details: [{ path: 'email', message }] })).toBeNull()
})

const moments: [iso: string, expected: string][] = [
  ['2026-01-02T03:04:05.678Z', '2 Jan 2026, 03:04 UTC'],
  ['2026-12-31T23:59:59.999Z', '31 Dec 2026, 23:59 UTC'],
  ['2026-13-01T00:00:00.000Z', '2026-13-01T00:00:00.000Z'],
  ['soon', 'soon'],
]

test.each(moments)('%s reads %s', (iso, expected) => {
  expect(formatTime(iso)).toBe(expected)
})

const sizes: [sizeBytes: number, expected: string][] = [
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 KB'],
  [1500, '1.5 KB'],
  [18_400_000, '18 MB'],
  [999_999, '1.0 MB'],
  [2_147_483_648, '2.1 GB'],
  [5e15, '5000 TB'],
]

test.each(sizes)('%p bytes read %s', (sizeBytes, expected) => {
  expect(formatSize(sizeBytes)).toBe(expected.replace(' ', '\u00a0'))
})

const agents: [userAgent: string | null, expected: string][] = [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36',
    'Chrome on Windows',
  ],
  ['Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0.0.0 Safari/537.36', 'Chrome on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36 Edg/156.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/19.0 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) CriOS/156.0 Mobile Safari/604.1',
    'Chrome on iPhone',
  ],
  [
    'Mozilla/5.0 (Linux; Android 16; Pixel) AppleWebKit/537.36 Chrome/156.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['curl/8.16.0', 'curl'],
  ['', 'Unknown browser'],
  [null, 'Unknown browser'],
]

test.each(agents)('%s is %s', (userAgent, expected) => {
  expect(describeUserAgent(userAgent)).toBe(expected)
})

test('the commands to publish name the server and the project', () => {
  const { deploy, curl } = publishSnippets('https://admin.example.com', 'acme/docs')
  expect(deploy).toContain('svc deploy ./dist --api-url https://admin.example.com')
  expect(deploy).toContain('--project acme/docs')
  expect(curl).toContain(
    '"https://admin.example.com/api/deployments?owner=acme&repo=docs&commitSha=$(git rev-parse HEAD)&alias=production"',
  )
})

test.each([
  [0, '0 visitors'],
  [1, '1 visitor'],
  [2, '2 visitors'],
  [1234, '1\u00a0234 visitors'],
])('%p is counted as %s', (value, text) => {
  expect(countOf(value, 'visitor')).toBe(text)
})
