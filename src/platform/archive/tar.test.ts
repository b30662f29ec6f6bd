import { describe, expect, test } from 'bun:test'
import { chunked, chunkedAtRandom, collect, failureOf, randomBytes } from '../chunks.fixture.ts'
import type { ArchiveLimits } from './entry.ts'
import { archive, END, entry, pax, paxRecord } from './tar.fixture.ts'
import { readTar } from './tar.ts'
import { type TarSource, tarEntries } from './tar-write.ts'

const LIMITS: ArchiveLimits = { maxFiles: 1000, maxBytes: 10_000_000 }

async function unpack(
  bytes: AsyncIterable<Uint8Array>,
  limits = LIMITS,
): Promise<[path: string, body: string][]> {
  const files: [string, string][] = []
  for await (const { path, sizeBytes, body, linkTo } of readTar(bytes, limits)) {
    const content = await collect(body)
    expect(content.length).toBe(sizeBytes)
    files.push([path, linkTo === undefined ? Buffer.from(content).toString('latin1') : `-> ${linkTo}`])
  }
  return files
}

const unpackAll = (bytes: Uint8Array, limits = LIMITS) => unpack(chunked(bytes, 65_536), limits)

describe('the features of the formats', () => {
  const long = `${'folder/'.repeat(30)}index.html`
  const cases: [what: string, bytes: Uint8Array, expected: [string, string][]][] = [
    ['nothing at all', new Uint8Array(), []],
    ['an archive without entries', END, []],
    [
      'a lone block of zeros at the end',
      Buffer.concat([entry({ name: 'a', body: 'A' }), Buffer.alloc(512)]),
      [['a', 'A']],
    ],
    [
      'two files, one of them empty',
      archive({ name: 'a', body: 'A' }, { name: 'b' }),
      [
        ['a', 'A'],
        ['b', ''],
      ],
    ],
    [
      'old types of file',
      archive({ name: 'a', type: '\0', magic: '', body: 'A' }, { name: 'b', type: '7' }),
      [
        ['a', 'A'],
        ['b', ''],
      ],
    ],
    [
      'folders',
      archive(
        { name: 'd/', type: '5' },
        { name: 'e', type: '5' },
        { name: 'f/', type: '0' },
        { name: 'd/a' },
      ),
      [['d/a', '']],
    ],
    ['a prefix', archive({ name: 'a', prefix: 'x/y' }), [['x/y/a', '']]],
    ['no prefix in the old GNU format', archive({ name: 'a', prefix: 'x', magic: 'ustar  \0' }), [['a', '']]],
    [
      'a GNU long name',
      archive(
        { name: '././@LongLink', type: 'L', body: `${long}\0` },
        { name: 'cut', body: 'A' },
        { name: 'b' },
      ),
      [
        [long, 'A'],
        ['b', ''],
      ],
    ],
    [
      'a pax path',
      archive(
        pax('30 mtime=1350244992.023960108\n', '14 path=ü/ß\n'),
        { name: 'cut', body: 'A' },
        { name: 'b' },
      ),
      [
        ['ü/ß', 'A'],
        ['b', ''],
      ],
    ],
    [
      'a comment for all, as git writes it',
      archive({ name: 'pax_global_header', type: 'g', body: '16 comment=abcd\n' }, { name: 'a' }),
      [['a', '']],
    ],
    ['a UTF-8 name', archive({ name: Buffer.from('ä.txt').toString('latin1') }), [['ä.txt', '']]],
    [
      'a size in binary',
      archive({ name: 'a', size: '\x80\0\0\0\0\0\0\0\0\0\0\x03', body: 'ABC' }),
      [['a', 'ABC']],
    ],
    [
      'a size without leading zeros',
      archive({ name: 'a', size: '          3 ', body: 'ABC' }),
      [['a', 'ABC']],
    ],
    [
      'a hard link, whose size counts for nothing',
      archive(
        { name: 'a', body: 'A' },
        { name: 'b', type: '1', link: 'a', size: '00000000001\0' },
        { name: 'c' },
      ),
      [
        ['a', 'A'],
        ['b', '-> a'],
        ['c', ''],
      ],
    ],
    [
      'a hard link with long names of pax',
      archive(pax(paxRecord('linkpath', 'ü/ß'), paxRecord('path', 'ü/link')), {
        name: 'b',
        type: '1',
        link: 'cut',
      }),
      [['ü/link', '-> ü/ß']],
    ],
    [
      'a hard link with long names of GNU',
      archive(
        { name: '././@LongLink', type: 'K', body: `${'long/'.repeat(40)}a\0` },
        { name: '././@LongLink', type: 'L', body: `${'long/'.repeat(40)}b\0` },
        { name: 'b', type: '1', link: 'cut' },
      ),
      [[`${'long/'.repeat(40)}b`, `-> ${'long/'.repeat(40)}a`]],
    ],
    ['what follows the end', Buffer.concat([archive({ name: 'a' }), Buffer.from('rubbish')]), [['a', '']]],
  ]

  test.each(cases)('%s', async (_, bytes, expected) => {
    expect(await unpackAll(bytes)).toEqual(expected)
    expect(await unpack(chunked(bytes, 1))).toEqual(expected)
  })

  test('a pax size overrides the one in the header', async () => {
    const header = entry({ name: 'a', size: '00000000000\0' })
    const bytes = Buffer.concat([
      entry(pax('10 size=3\n')),
      header,
      Buffer.from('ABC'.padEnd(512, '\0')),
      END,
    ])
    expect(await unpackAll(bytes)).toEqual([['a', 'ABC']])
  })
})

describe('names are passed on unchanged, for the caller to check', () => {
  const names = ['../../etc/passwd', '/etc/passwd', 'a\\..\\b', 'C:\\x', './a', 'a//b', '']
  test.each(names)('%j', async (name) => {
    expect(await unpackAll(archive({ name }))).toEqual([[name, '']])
  })

  test('a NUL in a pax path does not end it', async () => {
    expect(await unpackAll(archive(pax('14 path=a\0/..\n'), { name: 'a' }))).toEqual([['a\0/..', '']])
  })
})

describe('hostile and broken archives', () => {
  const whole = archive({ name: 'a', body: 'A'.repeat(700) })
  const flipped = Buffer.from(whole)
  flipped.write('b', 0)
  const cases: [what: string, bytes: Uint8Array, message: string][] = [
    [
      'a symbolic link',
      archive({ name: 'evil', type: '2', link: '/etc/passwd' }),
      '"evil" is a symbolic link',
    ],
    [
      'a symbolic link with a pax name',
      archive(pax('13 path=evil\n'), { name: 'a', type: '2' }),
      '"evil" is a symbolic link',
    ],
    ['a character device', archive({ name: 'evil', type: '3' }), '"evil" is a device'],
    ['a block device', archive({ name: 'evil', type: '4' }), '"evil" is a device'],
    ['a named pipe', archive({ name: 'evil', type: '6' }), '"evil" is a named pipe'],
    ['a sparse file', archive({ name: 'evil', type: 'S' }), '"evil" is a sparse file'],
    ['a pax sparse file', archive(pax('22 GNU.sparse.major=1\n'), { name: 'a' }), 'sparse'],
    [
      'an unknown type',
      archive({ name: 'evil', type: 'Z' }),
      '"evil" is of a type that is not supported ("Z")',
    ],
    ['a changed header', flipped, 'checksum'],
    ['something else', Buffer.from('PK\x03\x04'.padEnd(600, 'x')), 'not a tar archive'],
    ['a size that is not a number', archive({ name: 'evil', size: '0000000zz00\0' }), '"evil" has a size'],
    ['a negative size', archive({ name: 'evil', size: '\xff'.repeat(12) }), '"evil" has a size'],
    ['a huge size', archive({ name: 'evil', size: `\x80${'\x7f'.repeat(11)}` }), '"evil" has a size'],
    ['a name that is not UTF-8', archive({ name: 'ev\xffil' }), 'is not UTF-8'],
    ['a pax record without a length', archive(pax('path=evil\n'), { name: 'a' }), 'extended header'],
    ['a pax record that is too long', archive(pax('99 path=evil\n'), { name: 'a' }), 'extended header'],
    ['a pax record that is too short', archive(pax('7 path=evil\n'), { name: 'a' }), 'extended header'],
    ['a pax size that is not a number', archive(pax('11 size=-1\n'), { name: 'a' }), 'extended header'],
    [
      'one path for all entries',
      archive({ name: 'g', type: 'g', body: '13 path=evil\n' }, { name: 'a' }),
      'for all entries',
    ],
    ['a header of 1 GiB', entry({ name: 'evil', type: 'x', size: '10000000000\0' }), 'over 1 MiB'],
    ['no end', entry({ name: 'a', body: 'A' }), 'ends too soon'],
    [
      'a long name and then nothing',
      archive({ name: 'L', type: 'L', body: 'x' }).subarray(0, 1024),
      'ends too soon',
    ],
  ]

  test.each(cases)('%s', async (_, bytes, message) => {
    const failure = await failureOf(unpackAll(bytes))
    expect(failure).toMatchObject({ kind: 'invalid' })
    expect(failure.message).toContain(message)
  })

  test('an archive that is truncated anywhere', async () => {
    const bytes = archive({ name: 'a', body: 'A'.repeat(700) }, { name: 'b', body: 'B' })
    for (let length = 1; length <= bytes.length - 1024; length += 73) {
      const failure = await failureOf(unpackAll(bytes.subarray(0, length)))
      expect(failure).toMatchObject({ kind: 'invalid', message: expect.stringContaining('ends too soon') })
    }
  })

  test('files that arrived whole before the truncation are returned', async () => {
    const bytes = archive({ name: 'a', body: 'A' }, { name: 'b', body: 'B'.repeat(200_000) })
    const seen: string[] = []
    const read = async () => {
      for await (const { path, body } of readTar(chunked(bytes.subarray(0, 100_000), 4096), LIMITS)) {
        await collect(body)
        seen.push(path)
      }
    }
    expect(await failureOf(read())).toMatchObject({ kind: 'invalid' })
    expect(seen).toEqual(['a'])
  })
})

describe('limits', () => {
  const bytes = archive({ name: 'd/', type: '5' }, { name: 'a', body: 'AAA' }, { name: 'b', body: 'BB' })

  test('are inclusive, and folders do not count as files', async () => {
    expect(await unpackAll(bytes, { maxFiles: 2, maxBytes: 5 })).toEqual([
      ['a', 'AAA'],
      ['b', 'BB'],
    ])
  })

  test.each([
    [{ maxFiles: 1, maxBytes: 5 }, 'more than the 1 files allowed'],
    [{ maxFiles: 2, maxBytes: 4 }, 'more than the 4 bytes allowed'],
  ])('%j', async (limits, message) => {
    const failure = await failureOf(unpackAll(bytes, limits))
    expect(failure).toMatchObject({ kind: 'too_large', message: expect.stringContaining(message) })
  })

  test('a declared size is refused before its bytes are read', async () => {
    const header = entry({ name: 'a', size: '00077777777\0' })
    expect(await failureOf(unpackAll(header))).toMatchObject({ kind: 'too_large' })
  })
})

describe('tarEntries', () => {
  const names = [
    'index.html',
    'a'.repeat(100),
    `${'ordner/'.repeat(20)}größe.txt`,
    'b'.repeat(101),
    'ü',
    'empty',
    '92'.repeat(47),
  ]
  const sources: TarSource[] = [
    ...names.map((name, index) => ({ name, sizeBytes: index * 511, body: randomBytes(index * 511, index) })),
    { name: 'large', sizeBytes: 700_001, body: chunked(randomBytes(700_001, 99), 300_000) },
  ]
  const expected = [...names.map((name, index) => [name, index * 511] as const), ['large', 700_001] as const]

  test('writes what readTar reads, however it is cut', async () => {
    const bytes = await collect(tarEntries(sources))
    expect(bytes.length % 512).toBe(0)
    for (const cut of [chunked(bytes, 997), ...[1, 2, 3].map((seed) => chunkedAtRandom(bytes, 5000, seed))]) {
      const files = await unpack(cut)
      expect(files.map(([path, body]) => [path, body.length] as const)).toEqual(expected)
      expect(Buffer.from(files[3]?.[1] ?? '', 'latin1').equals(randomBytes(3 * 511, 3))).toBe(true)
      expect(Buffer.from(files.at(-1)?.[1] ?? '', 'latin1').equals(randomBytes(700_001, 99))).toBe(true)
    }
  })

  test('equal files give equal bytes', async () => {
    const again = () => collect(tarEntries([{ name: 'ü', sizeBytes: 1, body: Buffer.from('A') }]))
    expect(await again()).toEqual(await again())
  })

  test.each([1, 3])('refuses a body of 2 bytes announced as %p', async (sizeBytes) => {
    const failure = await failureOf(collect(tarEntries([{ name: 'a', sizeBytes, body: Buffer.from('AB') }])))
    expect(failure.message).toContain('a changed while it was being packed')
  })

  test('modes, folders and links are what the system’s tar reads', async () => {
    const nothing = new Uint8Array()
    const file = { sizeBytes: 1, body: Buffer.from('A') }
    const bytes = await collect(
      tarEntries([
        { name: 'folder/', sizeBytes: 0, body: nothing, special: { isFolder: true, mode: 0o750 } },
        { name: 'folder/plain', ...file },
        { name: 'folder/program', ...file, special: { mode: 0o755 } },
        { name: 'link', sizeBytes: 0, body: nothing, special: { linkTo: 'folder/plain', mode: 0o777 } },
      ]),
    )
    const { stdout } = Bun.spawnSync(['tar', '-tvf', '-'], { stdin: bytes })
    const lines = stdout.toString().trim().split('\n')
    expect(lines.map((line) => line.replace(/ .* \d\d:\d\d /, ' '))).toEqual([
      'drwxr-x--- folder/',
      '-rw-r--r-- folder/plain',
      '-rwxr-xr-x folder/program',
      'lrwxrwxrwx link -> folder/plain',
    ])
    const far = { linkTo: 'x'.repeat(101) }
    const failure = await failureOf(
      collect(tarEntries([{ name: 'link', sizeBytes: 0, body: nothing, special: far }])),
    )
    expect(failure.message).toContain('does not fit')
  })
})

describe('bodies', () => {
  const content = randomBytes(300_000, 5)
  const bytes = Buffer.concat([
    entry({ name: 'large', size: `${content.length.toString(8).padStart(11, '0')}\0` }),
    content,
    Buffer.alloc((512 - (content.length % 512)) % 512),
    archive({ name: 'small', body: 'S' }),
  ])

  test('unread or partly read bodies are skipped', async () => {
    for (const pieces of [0, 2]) {
      const paths: string[] = []
      for await (const { path, body } of readTar(chunked(bytes, 10_000), LIMITS)) {
        paths.push(path)
        if (body instanceof Uint8Array) continue
        const reader = body[Symbol.asyncIterator]()
        for (let count = 0; count < pieces; count++) await reader.next()
      }
      expect(paths).toEqual(['large', 'small'])
    }
  })

  test('are not read ahead: a slow reader slows down the sender', async () => {
    let sent = 0
    async function* sender() {
      for await (const chunk of chunked(bytes, 1000)) {
        sent += chunk.length
        yield chunk
      }
    }
    for await (const { body } of readTar(sender(), LIMITS)) {
      if (body instanceof Uint8Array) continue
      await body[Symbol.asyncIterator]().next()
      await Bun.sleep(1)
      expect(sent).toBeLessThanOrEqual(2000)
    }
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
    for await (const _ of readTar(sender(), LIMITS)) break
    expect(isClosed).toBe(true)
  })
})
