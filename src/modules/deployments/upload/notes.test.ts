import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { zip } from '../../../platform/archive/zip.fixture.ts'
import {
  archive,
  type Content,
  DOCS,
  fieldParts,
  fileParts,
  SHA,
  sha256,
  tar,
  uploadWorld,
  type World,
} from './upload.fixture.ts'

/** contract 12.9: what every upload says besides, and `unwrap`. */

let world: World
beforeEach(async () => {
  world = await uploadWorld()
})
afterEach(() => world.close())

type Files = Record<string, Content>
type Fields = Record<string, string>
type Note = { code: string; message: string; path: string | null }

const post = async (path: string, options: Parameters<World['send']>[2]) => {
  const { status, body } = await world.send('POST', path, { key: world.keys.docs, ...options })
  if (status !== 201) throw new Error(body.message)
  return body
}
const queryOf = (fields: Fields) => new URLSearchParams({ ...DOCS, ...fields })
const sendForm = async (path: string, files: Files, fields: Fields) => {
  const { status, body } = await world.sendForm(
    path,
    world.keys.docs,
    ...fileParts(files),
    ...fieldParts({ ...DOCS, ...fields }),
  )
  if (status !== 201) throw new Error(body.message)
  return body
}

/** Every way to publish. */
const ways: Record<string, (files: Files, fields?: Fields) => Promise<Record<string, unknown>>> = {
  'assets/upload': (files, fields = {}) => sendForm('/api/assets/upload', files, fields),
  'a form': (files, fields = {}) => send(files, fields),
  'the zip form': (files, fields = {}) => sendForm('/api/deployments/zip', { 'a.zip': zip(files) }, fields),
  'a zip': (files, fields = {}) =>
    post(`/api/deployments?${queryOf(fields)}`, archive('application/zip', zip(files))),
  'a tar': async (files, fields = {}) =>
    post(`/api/deployments?${queryOf(fields)}`, archive('', await tar(files))),
  'a manifest': (files, fields = {}) => publishManifest(files, fields),
}

async function publishManifest(files: Files, fields: Fields): Promise<Record<string, unknown>> {
  const contents = Object.entries(files).map(([path, content]) => ({ path, bytes: Buffer.from(content) }))
  const entries = contents.map(({ path, bytes }) => ({ path, size: bytes.length, sha256: sha256(bytes) }))
  const begun = await post('/api/deployments/manifest', { json: { ...DOCS, ...fields, files: entries } })
  const missing = begun['missing'] as string[]
  const sent = contents.filter(({ bytes }) => missing.includes(sha256(bytes)))
  const body = await tar(Object.fromEntries(sent.map(({ bytes }) => [sha256(bytes), bytes])))
  const path = `/api/deployments/manifest/${begun['uploadId']}`
  const send = () => world.send('PUT', path, { key: world.keys.docs, ...archive('application/x-tar', body) })
  const first = await send()
  expect((await send()).body['notes']).toEqual(first.body['notes'])
  return first.body
}

const notesOf = (answer: Record<string, unknown>) => answer['notes'] as Note[]
const codesOf = (answer: Record<string, unknown>) => notesOf(answer).map(({ code, path }) => [code, path])
const PRIVATE = ['PRIVATE_PROJECT', null]
const NESTED = { 'site/index.html': 'I', 'site/a.css': 'a', '__MACOSX/site/x': 'x', '.DS_Store': 'x' }

describe.each(Object.entries(ways))('%s', (_way, send) => {
  test('says of a private project who can see it, and how it is made public', async () => {
    const [note, ...more] = notesOf(await send({ 'index.html': 'I' }, { alias: 'live' }))
    expect([note?.code, note?.path, more]).toEqual(['PRIVATE_PROJECT', null, []])
    expect(note?.message).toContain('acme/docs is private')
    expect(note?.message).toContain('the role guest or a higher one')
    expect(note?.message).toContain(`PATCH /api/projects/${world.docsId} { "isPublic": true }`)
  })

  test('says that the alias has no start page, and in which folder one is', async () => {
    expect(codesOf(await send(NESTED, { alias: 'live' }))).toEqual([
      ['NO_START_PAGE', null],
      ['NESTED_FOLDER', 'site'],
      PRIVATE,
    ])
  })

  test('takes away the folder that everything is in, if it is asked to', async () => {
    expect(codesOf(await send(NESTED, { alias: 'live', unwrap: 'true' }))).toEqual([PRIVATE])
    expect(world.filesOf()).toEqual({ 'a.css': 'a', 'index.html': 'I' })
  })

  test('takes away no other folder', async () => {
    const files = { 'index.html': 'I', 'site/index.html': 'S' }
    await send(files, { unwrap: 'true' })
    expect(world.filesOf()).toEqual(files)
  })

  test('refuses what unwrapping would make of two contents', async () => {
    const files = { 'README.md': 'one', 'site/README.md': 'two', 'site/index.html': 'I' }
    const before = world.leftovers()
    await expect(send(files, { unwrap: 'true' })).rejects.toThrow('"README.md" comes twice')
    expect(world.leftovers()).toEqual(before)
  })
})

const send = (files: Files, fields: Fields = {}) => sendForm('/api/deployments', files, fields)

test('without an alias a missing start page says nothing, a nested one does', async () => {
  expect(codesOf(await send({ 'a.txt': 'A' }))).toEqual([PRIVATE])
  expect(codesOf(await send(NESTED, { commitSha: 'abcdef1' }))).toEqual([['NESTED_FOLDER', 'site'], PRIVATE])
})

test('what counts is what the alias serves: its folder, and what earlier uploads brought', async () => {
  const base = { alias: 'live', basePath: '/dist' }
  expect(codesOf(await send({ 'dist/index.html': 'I' }, base))).toEqual([PRIVATE])
  expect(codesOf(await send({ 'dist/a/index.html': 'I' }, { ...base, commitSha: 'aaaaaaa' }))).toEqual([
    ['NO_START_PAGE', null],
    ['NESTED_FOLDER', 'dist/a'],
    PRIVATE,
  ])
  const more = { alias: 'other', commitSha: 'bbbbbbb' }
  await send({ 'index.html': 'I' }, more)
  expect(codesOf(await send({ 'a/index.html': 'A' }, { ...more, append: 'true' }))).toEqual([PRIVATE])
})

test('a locked alias serves what it served', async () => {
  await send({ 'index.html': 'I' }, { alias: 'live' })
  world.ctx.db.sqlite.run('UPDATE aliases SET is_locked = 1')
  expect(codesOf(await send({ 'a.txt': 'A' }, { alias: 'live', commitSha: 'abcdef1' }))).toEqual([PRIVATE])
})

test('a public project, or a public alias of a private one, is seen by everybody', async () => {
  await send({ 'index.html': 'I' }, { alias: 'live' })
  world.ctx.db.sqlite.run('UPDATE aliases SET is_public = 1')
  expect(notesOf(await send({ 'index.html': 'I' }, { alias: 'live' }))).toEqual([])
  expect(codesOf(await send({ 'index.html': 'I' }))).toEqual([PRIVATE])
  world.ctx.db.sqlite.run('UPDATE projects SET is_public = 1')
  expect(notesOf(await send({ 'index.html': 'I' }))).toEqual([])
})

test('unwrap and asFiles are true or false', async () => {
  for (const field of ['unwrap', 'asFiles'])
    await expect(send({ 'a.txt': 'A' }, { [field]: 'maybe' })).rejects.toThrow(
      `${field}: must be true or false`,
    )
  expect(world.filesOf(SHA)).toEqual({})
})
