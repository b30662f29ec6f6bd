import { describe, expect, test } from 'bun:test'
import { free, ownsMemory } from '../platform/byte-stream.ts'
import { chunked, chunkedAtRandom, collect, failureOf, randomBytes } from '../platform/chunks.fixture.ts'
import { type FormLimits, readMultipart } from './multipart.ts'

const LIMITS: FormLimits = { maxBytes: 10_000_000, maxFiles: 100 }
const TYPE = 'multipart/form-data; boundary=xyz'

type Seen = ['field', name: string, value: string] | ['file', name: string, filename: string, body: string]

async function read(
  chunks: AsyncIterable<Uint8Array>,
  limits: FormLimits = LIMITS,
  contentType: string | null = TYPE,
): Promise<Seen[]> {
  const seen: Seen[] = []
  for await (const part of readMultipart(chunks, contentType, limits)) {
    if (part.kind === 'field') seen.push(['field', part.name, part.value])
    else
      seen.push(['file', part.name, part.filename, Buffer.from(await collect(part.body)).toString('latin1')])
  }
  return seen
}

const readText = (text: string, limits = LIMITS) => read(chunked(Buffer.from(text), 65_536), limits)

async function* each(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

/** A form with these parts, each its headers, an empty line and its content. */
const form = (...parts: string[]) => `${parts.map((part) => `--xyz\r\n${part}\r\n`).join('')}--xyz--\r\n`
const field = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`
const file = (name: string, filename: string, body: string) =>
  `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: text/plain\r\n\r\n${body}`
const headed = (disposition: string) => form(`Content-Disposition: ${disposition}\r\n\r\n`)

describe('forms', () => {
  const tricky = [
    '\r\n--xy',
    '--xyz',
    '\r\n-\r\n--',
    '\r\r\n\r\n--xy\r',
    'a\r\n',
    '\r\n',
    '\r',
    '-',
    '',
  ].join('|')
  const cases: [what: string, body: string, expected: Seen[]][] = [
    ['no part', '--xyz--\r\n', []],
    ['no final line end', '--xyz--', []],
    [
      'fields before and after files',
      form(field('a', '1'), file('file', 'i.html', 'I'), field('b', '2')),
      [
        ['field', 'a', '1'],
        ['file', 'file', 'i.html', 'I'],
        ['field', 'b', '2'],
      ],
    ],
    [
      'fields with the same name',
      form(field('a', '1'), field('a', '2')),
      [
        ['field', 'a', '1'],
        ['field', 'a', '2'],
      ],
    ],
    [
      'empty contents',
      form(field('a', ''), file('file', 'e', ''), file('file', '', '')),
      [
        ['field', 'a', ''],
        ['file', 'file', 'e', ''],
        ['file', 'file', '', ''],
      ],
    ],
    [
      'contents that look like boundaries',
      form(field('a', tricky), file('file', 'f', tricky), field('b', 'x')),
      [
        ['field', 'a', tricky],
        ['file', 'file', 'f', tricky],
        ['field', 'b', 'x'],
      ],
    ],
    [
      'text around the form',
      `To whom it may concern\r\n${form(field('a', '1'))}Regards\r\n`,
      [['field', 'a', '1']],
    ],
    ['blanks after a boundary', `--xyz \t \r\n${field('a', '1')}\r\n--xyz--  \r\n`, [['field', 'a', '1']]],
    [
      'a part that ends with its headers',
      '--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\n--xyz--\r\n',
      [['field', 'a', '']],
    ],
    [
      'header names in any case, and unknown headers',
      form('content-DISPOSITION:form-data;name=a\r\nX-Other: 1\r\n\r\n1'),
      [['field', 'a', '1']],
    ],
    ['UTF-8 in values', form(field('ü', 'größe €')), [['field', 'ü', 'größe €']]],
  ]

  test.each(cases)('%s', async (_, body, expected) => {
    const bytes = Buffer.from(body)
    expect(await read(chunked(bytes, 65_536))).toEqual(expected)
    for (let size = 1; size <= 12; size++) expect(await read(chunked(bytes, size))).toEqual(expected)
    for (let seed = 0; seed < 20; seed++)
      expect(await read(chunkedAtRandom(bytes, 60, seed))).toEqual(expected)
  })

  test('split into two chunks anywhere', async () => {
    const bytes = Buffer.from(form(field('a', '1\r\n'), file('file', 'd/f', '\r\n--xy\r\n'), field('b', '')))
    const expected = await read(chunked(bytes, bytes.length))
    expect(expected.length).toBe(3)
    for (let at = 1; at < bytes.length; at++) expect(await read(chunkedTwo(bytes, at))).toEqual(expected)
  })

  test('who reads a content may free each piece, also where a chunk ends like a boundary', async () => {
    const chunks = ['\r', '\r\n--x', '', 'a\r'].map((end, i) =>
      Buffer.concat([Buffer.alloc(70_000, `${i}`), Buffer.from(end)]),
    )
    const content = Buffer.concat(chunks)
    const sent = [Buffer.from(form(file('file', 'f', '')).split('\r\n--xyz--')[0] ?? ''), ...chunks]
    const source = [...sent, Buffer.from('\r\n--xyz--\r\n')].map((bytes) => Uint8Array.from(bytes))
    const taken: Uint8Array[] = []
    const owned: boolean[] = []
    for await (const part of readMultipart(each(source), TYPE, LIMITS))
      if (part.kind === 'file')
        for await (const piece of part.body as AsyncIterable<Uint8Array>) {
          taken.push(Uint8Array.from(piece))
          owned.push(ownsMemory(piece))
          free(piece)
        }
    expect(Buffer.concat(taken).equals(content)).toBe(true)
    // The first shares its memory with the headers, the last with the boundary.
    expect(owned.slice(1, -1)).toEqual([true, true, true])
    expect(source.slice(1, 5).map(({ length }) => length)).toEqual([0, 0, 0, 0])
  })

  test('binary contents of every size near a chunk', async () => {
    for (const length of [1, 4095, 4096, 4097, 300_000]) {
      const content = Buffer.from(randomBytes(length, length)).toString('latin1')
      const bytes = Buffer.from(form(file('file', 'f', content), field('z', '')), 'latin1')
      const expected: Seen[] = [
        ['file', 'file', 'f', content],
        ['field', 'z', ''],
      ]
      expect(await read(chunked(bytes, 4096))).toEqual(expected)
      expect(await read(chunkedAtRandom(bytes, 9000, length))).toEqual(expected)
    }
  })
})

async function* chunkedTwo(bytes: Uint8Array, at: number): AsyncGenerator<Uint8Array> {
  yield bytes.slice(0, at)
  yield bytes.slice(at)
}

describe('file names', () => {
  const cases: [disposition: string, filename: string][] = [
    ['filename="assets/css/site.css"', 'assets/css/site.css'],
    ['filename="../../etc/passwd"', '../../etc/passwd'],
    ['filename="/abs"', '/abs'],
    ['filename="a\\b\\c.js"', 'a\\b\\c.js'],
    ['filename="say \\"hi\\".txt"', 'say "hi".txt'],
    ['filename="back\\\\slash"', 'back\\slash'],
    ['filename="say %22hi%22.txt"', 'say "hi".txt'],
    ['filename="100%25.txt"', '100%25.txt'],
    ['filename="a;b=c.txt"', 'a;b=c.txt'],
    ['filename=plain.txt', 'plain.txt'],
    ['filename="größe.txt"', 'größe.txt'],
    ['filename="x"; filename*=UTF-8\'\'gr%C3%B6%C3%9Fe/%E2%82%AC.txt', 'größe/€.txt'],
    ['filename*=utf-8\'de\'a%2Fb.txt; filename="x"', 'a/b.txt'],
    ["filename*=iso-8859-1''gr%F6%DFe", 'größe'],
    ['filename=""', ''],
    ['FILENAME="a"', 'a'],
    ['filename="C:\\dir\\"', 'C:\\dir\\'],
    ['filename="C:\\dir\\"; x="y"', 'C:\\dir\\'],
    ['filename="C:\\\\dir\\"', 'C:\\dir\\'],
    [`filename="${'\\'.repeat(2000)}"`, '\\'.repeat(1000)],
  ]
  test.each(cases)('%s', async (disposition, filename) => {
    expect(await readText(headed(`form-data; name="file"; ${disposition}`))).toEqual([
      ['file', 'file', filename, ''],
    ])
  })
})

// Each would take seconds if backslashes were ambiguous; together, longer than the timeout of a test.
test('an unterminated quoted text is rejected at once, however many backslashes it has', async () => {
  for (let count = 40; count < 60; count++) {
    const headers = headed(`form-data; name="${'\\'.repeat(count)}`)
    await expect(readText(headers)).rejects.toThrow('A form part has a malformed header')
  }
})

describe('content types', () => {
  const body = (boundary: string) => Buffer.from(`--${boundary}\r\n${field('a', '1')}\r\n--${boundary}--`)
  const good: [contentType: string, boundary: string][] = [
    ['multipart/form-data; boundary=xyz', 'xyz'],
    ['multipart/form-data; boundary="xyz"', 'xyz'],
    ['Multipart/Form-Data;BOUNDARY=xyz', 'xyz'],
    ['multipart/form-data; charset=utf-8; boundary="a b:c"; other=1', 'a b:c'],
    ['multipart/form-data; boundary=----WebKitFormBoundaryAbC123', '----WebKitFormBoundaryAbC123'],
    [`multipart/form-data; boundary=${'b'.repeat(70)}`, 'b'.repeat(70)],
  ]
  test.each(good)('%s', async (contentType, boundary) => {
    expect(await read(chunked(body(boundary), 7), LIMITS, contentType)).toEqual([['field', 'a', '1']])
  })

  const bad = [
    null,
    '',
    'application/json',
    'multipart/mixed; boundary=xyz',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="x\r\ny"',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
    'multipart/form-data; boundary="xyz',
  ]
  test.each(bad)('%j is refused', async (contentType) => {
    expect(await failureOf(read(chunked(body('xyz'), 7), LIMITS, contentType))).toMatchObject({
      kind: 'invalid',
    })
  })
})

describe('malformed forms are refused', () => {
  const cases: [what: string, body: string, message: string][] = [
    ['nothing', '', 'cut off'],
    ['no boundary', 'hello', 'cut off'],
    ['another boundary', '--abc\r\n\r\n--abc--', 'cut off'],
    ['no closing boundary', `--xyz\r\n${field('a', '1')}`, 'cut off'],
    ['a closing boundary cut in two', `--xyz\r\n${field('a', '1')}\r\n--xyz-`, 'cut off'],
    ['unterminated headers', '--xyz\r\nContent-Disposition: form-data; name="a"', 'cut off'],
    ['text after a boundary', `--xyzzy\r\n${field('a', '1')}\r\n--xyz--`, 'malformed'],
    ['a bare line feed after a boundary', `--xyz\n${field('a', '1')}\r\n--xyz--`, 'malformed'],
    ['no headers', form('\r\ncontent'), 'header'],
    ['a header without a colon', form('Content-Disposition\r\n\r\nx'), 'header'],
    ['no disposition', form('Content-Type: text/plain\r\n\r\nx'), 'without a name'],
    ['no name', headed('form-data; filename="a"'), 'without a name'],
    ['another disposition', headed('attachment; name="a"'), 'without a name'],
    ['an unterminated name', headed('form-data; name="a'), 'malformed header'],
    ['a file name in an unknown encoding', headed("form-data; name=a; filename*=koi8-r''a"), 'file name'],
    ['a file name with a broken escape', headed("form-data; name=a; filename*=UTF-8''%ff"), 'file name'],
    [
      'base64',
      form(`Content-Transfer-Encoding: base64\r\n${field('a', 'MQ==')}`),
      'transfer encoding base64',
    ],
    ['headers of over 16 KiB', form(`X-Long: ${'x'.repeat(17_000)}\r\n${field('a', '1')}`), '16 KiB'],
  ]
  test.each(cases)('%s', async (_, body, message) => {
    for (const size of [65_536, 5, 1]) {
      const failure = await failureOf(read(chunked(Buffer.from(body), size)))
      expect(failure).toMatchObject({ kind: 'invalid' })
      expect(failure.message).toContain(message)
    }
  })

  test('text that is not UTF-8', async () => {
    for (const part of [field('a', '\xff'), field('\xff', 'a'), file('file', '\xff', '')]) {
      const bytes = Buffer.from(form(part), 'latin1')
      const failure = await failureOf(read(chunked(bytes, 100)))
      expect(failure).toMatchObject({ kind: 'invalid', message: expect.stringContaining('not UTF-8') })
    }
  })

  test('a form truncated anywhere', async () => {
    const bytes = Buffer.from(form(field('a', '1'), file('file', 'f', 'content')))
    for (let length = 0; length < bytes.length - 2; length++)
      expect(await failureOf(read(chunked(bytes.subarray(0, length), 9)))).toMatchObject({ kind: 'invalid' })
  })

  test('no body', async () => {
    const first = readMultipart(null, TYPE, LIMITS).next()
    expect(await failureOf(first)).toMatchObject({ kind: 'invalid' })
  })
})

describe('limits', () => {
  const twoFiles = form(file('file', 'a', 'A'), file('file', 'b', 'B'))
  const twoFields = form(field('a', 'AAAA'), field('paths', 'PPPPPPPP'))
  const cases: [what: string, body: string, limits: Partial<FormLimits>, message: string | null][] = [
    ['as many bytes as allowed', twoFiles, { maxBytes: twoFiles.length }, null],
    [
      'one byte more',
      twoFiles,
      { maxBytes: twoFiles.length - 1 },
      `larger than the ${twoFiles.length - 1} bytes`,
    ],
    ['as many files as allowed', twoFiles, { maxFiles: 2 }, null],
    ['one file more', twoFiles, { maxFiles: 1 }, 'more than the 1 files'],
    ['as many fields as allowed', twoFields, { maxFields: 2 }, null],
    ['one field more', twoFields, { maxFields: 1 }, 'more than the 1 fields'],
    ['as large a field as allowed', twoFields, { maxFieldBytes: 8 }, null],
    ['a larger field', twoFields, { maxFieldBytes: 7 }, 'The field "paths" is larger than the 7 bytes'],
    ['a field that may be larger', twoFields, { maxFieldBytes: 4, largeFields: { paths: 8 } }, null],
    ['a larger one than that', twoFields, { maxFieldBytes: 4, largeFields: { paths: 7 } }, 'the 7 bytes'],
    ['a field named like a method', form(field('toString', 'AAAA')), { largeFields: {} }, null],
    ['1 MiB of a field', form(field('a', 'x'.repeat(1024 * 1024))), {}, null],
    ['over 1 MiB of a field', form(field('a', 'x'.repeat(1024 * 1024 + 1))), {}, 'the 1048576 bytes'],
    [
      '17 fields of 1 MiB',
      form(...Array.from({ length: 17 }, () => field('a', 'x'.repeat(1024 * 1024)))),
      { maxBytes: 1e9 },
      'The field "a"',
    ],
  ]
  test.each(cases)('%s', async (_, body, limits, message) => {
    const reading = readText(body, { ...LIMITS, ...limits })
    if (message === null) expect((await reading).length).toBeGreaterThan(0)
    else {
      const failure = await failureOf(reading)
      expect(failure).toMatchObject({ kind: 'too_large' })
      expect(failure.message).toContain(message)
    }
  })
})

describe('reading', () => {
  const content = 'x'.repeat(200_000)
  const bytes = Buffer.from(form(file('file', 'large', content), field('after', '1')))

  test('content that is not read, or only partly, is skipped', async () => {
    for (const pieces of [0, 1, 3]) {
      const names: string[] = []
      for await (const part of readMultipart(chunked(bytes, 10_000), TYPE, LIMITS)) {
        names.push(part.name)
        if (part.kind === 'field' || part.body instanceof Uint8Array) continue
        const reader = part.body[Symbol.asyncIterator]()
        for (let count = 0; count < pieces; count++) await reader.next()
      }
      expect(names).toEqual(['file', 'after'])
    }
  })

  test('content cannot be read after the next part was requested', async () => {
    const parts = readMultipart(chunked(bytes, 10_000), TYPE, LIMITS)
    const { value: part } = await parts.next()
    if (part?.kind !== 'file') throw new Error('The first part is a file')
    await parts.next()
    expect((await failureOf(collect(part.body))).message).toContain('after the next one was requested')
  })

  test('a slow reader slows the sender down', async () => {
    let sent = 0
    async function* sender() {
      for await (const chunk of chunked(bytes, 1000)) {
        sent += chunk.length
        yield chunk
      }
    }
    let taken = 0
    for await (const part of readMultipart(sender(), TYPE, LIMITS)) {
      if (part.kind === 'field' || part.body instanceof Uint8Array) continue
      for await (const piece of part.body) {
        taken += piece.length
        expect(sent - taken).toBeLessThanOrEqual(2000)
      }
    }
    expect(taken).toBe(content.length)
  })

  test('leaving early closes the source', async () => {
    let isClosed = false
    async function* sender() {
      try {
        yield* chunked(bytes, 1000)
      } finally {
        isClosed = true
      }
    }
    for await (const _ of readMultipart(sender(), TYPE, LIMITS)) break
    expect(isClosed).toBe(true)
  })

  test('parses what fetch sends to a real server, and rejects it with a response', async () => {
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const maxBytes = request.url.endsWith('/small') ? 1000 : 10_000_000
        try {
          const type = request.headers.get('content-type')
          if (request.body === null) throw new Error('There is no body')
          return Response.json(await read(request.body, { ...LIMITS, maxBytes }, type))
        } catch (error) {
          return new Response(String(error), { status: 413 })
        }
      },
    })
    const data = new FormData()
    data.append('owner', 'acmé')
    data.append('file', new Blob([content]), 'assets/"größe".js')
    const answer = await fetch(server.url, { method: 'POST', body: data })
    expect(await answer.json()).toEqual([
      ['field', 'owner', 'acmé'],
      ['file', 'file', 'assets/"größe".js', content],
    ])
    const refused = await fetch(`${server.url}small`, { method: 'POST', body: data })
    expect(refused.status).toBe(413)
  })
})
