import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Block, pax, paxRecord, archive as rawTar } from '../../../platform/archive/tar.fixture.ts'
import { zip } from '../../../platform/archive/zip.fixture.ts'
import {
  archive,
  type Content,
  DOCS,
  fieldParts,
  QUERY,
  sha256,
  uploadWorld,
  type World,
} from './upload.fixture.ts'

/** contract 12.9: one path twice, and hard links. */

let world: World
beforeEach(async () => {
  world = await uploadWorld({ MAX_UPLOAD_BYTES: '20000', MAX_DEPLOYMENT_FILES: '3' })
})
afterEach(() => world.close())

const sendTar = (...blocks: Block[]) =>
  world.send('POST', `/api/deployments?${QUERY}`, {
    key: world.keys.docs,
    ...archive('application/x-tar', rawTar(...blocks)),
  })

/** Ways to send files, of which a path may come twice. */
const ways: Record<
  string,
  (files: [path: string, content: string][]) => Promise<{ status: number; body: { message?: string } }>
> = {
  'a form': (files) =>
    world.sendForm(
      '/api/deployments',
      world.keys.docs,
      ...fieldParts(DOCS),
      ...files.map(([file, content]) => ({ file, content })),
    ),
  filePaths: (files) =>
    world.sendForm(
      '/api/assets/upload',
      world.keys.docs,
      ...files.map(([, content], index) => ({ file: `${index}`, content })),
      ...fieldParts({ ...DOCS, filePaths: JSON.stringify(files.map(([path]) => path)) }),
    ),
  'a zip': (files) =>
    world.send('POST', `/api/deployments?${QUERY}`, {
      key: world.keys.docs,
      ...archive('application/zip', zip(files)),
    }),
  'the zip form': (files) =>
    world.sendForm(
      '/api/deployments/zip',
      world.keys.docs,
      { file: 'a.zip', content: zip(files) },
      ...fieldParts(DOCS),
    ),
  'a tar': (files) => sendTar(...files.map(([name, body]) => utf8({ name, body }))),
  'a manifest': (files) =>
    world.send('POST', '/api/deployments/manifest', {
      key: world.keys.docs,
      json: {
        ...DOCS,
        files: files.map(([path, body]) => ({ path, size: body.length, sha256: sha256(body) })),
      },
    }),
}

const SPELLINGS: [first: string, second: string][] = [
  ['a.txt', 'a.txt'],
  ['a.txt', './a.txt'],
  ['d/a.txt', 'd\\a.txt'],
  ['d/a.txt', 'd//a.txt'],
  ['caf\u00e9.txt', 'cafe\u0301.txt'],
]

describe.each(Object.entries(ways))('one path twice in %s', (way, send) => {
  test.each(SPELLINGS)('%p and %p with other bytes: refused, and nothing is kept', async (first, second) => {
    const before = world.leftovers()
    const { status, body } = await send([
      [first, 'old'],
      ['b.txt', 'b'],
      [second, 'new'],
    ])
    expect(status).toBe(400)
    expect(body.message).toContain(JSON.stringify(first))
    expect(body.message).toContain('twice')
    expect(world.leftovers()).toEqual(before)
  })

  test.each(SPELLINGS)('%p and %p with the same bytes: one file', async (first, second) => {
    // With its copies it would be one more than a deployment may have.
    const answer = await send([
      [first, 'same'],
      ['b.txt', 'b'],
      [second, 'same'],
      ['c.txt', 'c'],
    ])
    expect(answer.status).toBe(201)
    if (way === 'a manifest') return
    expect(world.filesOf()).toEqual({ [first]: 'same', 'b.txt': 'b', 'c.txt': 'c' })
  })
})

test('what is left out may come twice', async () => {
  expect(
    (await sendTar({ name: '.x', body: '1' }, { name: '.x', body: '2' }, { name: 'a', body: 'A' })).status,
  ).toBe(201)
})

describe('hard links', () => {
  const link = (name: string, to: string): Block => ({ name, type: '1', link: to })
  const page = { name: 'index.html', body: 'I' }
  const long = `${'long/'.repeat(30)}a.txt`

  test.each<[what: string, blocks: Block[], files: Record<string, Content>]>([
    ['plain', [page, link('copy.html', 'index.html')], { 'copy.html': 'I', 'index.html': 'I' }],
    [
      'spelled otherwise',
      [{ ...page, name: './index.html' }, link('./d//copy', './/index.html')],
      { 'd/copy': 'I', 'index.html': 'I' },
    ],
    ['to a link', [page, link('b', 'index.html'), link('c', 'b')], { b: 'I', c: 'I', 'index.html': 'I' }],
    [
      'twice, the same',
      [page, link('b', 'index.html'), link('b', './index.html')],
      { b: 'I', 'index.html': 'I' },
    ],
    [
      'by long names of pax',
      [
        pax(paxRecord('path', long)),
        { name: 'cut', body: 'L' },
        pax(paxRecord('linkpath', long)),
        link('b', 'cut'),
      ],
      { b: 'L', [long]: 'L' },
    ],
    [
      'by long names of GNU',
      [
        { name: 'L', type: 'L', body: `${long}\0` },
        { name: 'cut', body: 'L' },
        { name: 'K', type: 'K', body: `${long}\0` },
        link('b', 'cut'),
      ],
      { b: 'L', [long]: 'L' },
    ],
    ['left out itself', [page, link('.git/x', 'nothing')], { 'index.html': 'I' }],
    [
      'in a name with an accent',
      [{ name: 'cafe\u0301', body: 'C' }, link('b', 'caf\u00e9')].map(utf8),
      { b: 'C', 'caf\u00e9': 'C' },
    ],
  ])('%s', async (_what, blocks, files) => {
    const { status, body } = await sendTar(...blocks)
    expect([status, body.message]).toEqual([201, undefined])
    expect(world.filesOf()).toEqual(files as Record<string, string>)
  })

  test.each<[what: string, blocks: Block[], from: string, to: string]>([
    ['nothing', [page, link('b', 'missing')], 'b', 'missing'],
    ['a later entry', [link('b', 'index.html'), page], 'b', 'index.html'],
    ['itself', [page, link('b', 'b')], 'b', 'b'],
    [
      'itself, where the path is taken',
      [page, link('index.html', './index.html')],
      'index.html',
      './index.html',
    ],
    ['a folder', [{ name: 'd/', type: '5' }, link('b', 'd/')], 'b', 'd/'],
    ['a file outside', [page, link('b', '/etc/passwd')], 'b', '/etc/passwd'],
    ['a file above', [page, link('b', '../secret')], 'b', '../secret'],
    ['what is left out', [{ name: '.env', body: 'S' }, page, link('b', '.env')], 'b', '.env'],
    ['no name', [page, link('b', '')], 'b', ''],
  ])('to %s: refused naming both, and nothing is kept', async (_what, blocks, from, to) => {
    const before = world.leftovers()
    const { status, body } = await sendTar(...blocks)
    expect(status).toBe(400)
    expect(body.message).toStartWith(`${JSON.stringify(from)} is a hard link to ${JSON.stringify(to)}, wh`)
    expect(world.leftovers()).toEqual(before)
  })

  test('other bytes under a path that is there', async () => {
    const { status, body } = await sendTar(page, { name: 'b', body: 'B' }, link('b', 'index.html'))
    expect([status, body.message]).toEqual([400, expect.stringContaining('"b" comes twice')])
  })

  test('each counts as a file', async () => {
    const { status, body } = await sendTar(page, ...['b', 'c', 'd'].map((name) => link(name, 'index.html')))
    expect([status, body.message]).toEqual([413, expect.stringContaining('3 files')])
  })

  test('each counts with its bytes', async () => {
    const large = { name: 'a', body: 'x'.repeat(9_000) }
    expect((await sendTar(large, link('b', 'a'))).status).toBe(201)
    const before = world.leftovers()
    const { status, body } = await sendTar(large, link('b', 'a'), link('c', 'a'))
    expect([status, body.message]).toEqual([413, expect.stringContaining('20000 bytes')])
    expect(world.leftovers()).toEqual(before)
  })

  test('what holds the contents of a manifest has none', async () => {
    const hash = sha256('A')
    const json = { ...DOCS, files: [{ path: 'a', size: 1, sha256: hash }] }
    const begun = await world.send('POST', '/api/deployments/manifest', { key: world.keys.docs, json })
    const body = archive('application/x-tar', rawTar(link(hash, hash)))
    const sent = await world.send('PUT', `/api/deployments/manifest/${begun.body['uploadId']}`, {
      key: world.keys.docs,
      ...body,
    })
    expect([sent.status, sent.body.message]).toEqual([400, expect.stringContaining('is a hard link')])
  })
})

/** The name in a header is written as Latin-1, byte by byte. */
function utf8(block: Block): Block {
  return { ...block, name: Buffer.from(block.name).toString('latin1') }
}
