import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProblems } from './check.ts'
import { archive, DOCS, QUERY, SHA, sha256, tar, uploadWorld, type World } from './upload/upload.fixture.ts'
import { resumeVariants, waitForVariants } from './variants.ts'

const SMALL = 'words '.repeat(1000)
const LARGE = 'large '.repeat(250_000)
const SITE = { 'app.js': SMALL, 'large.txt': LARGE }

let world: World
beforeEach(async () => {
  world = await uploadWorld()
  world.ctx.db.sqlite.run('UPDATE projects SET is_public = 1')
  await publish(SHA)
})
afterEach(() => world.close())

async function publish(sha: string): Promise<void> {
  const query = `${QUERY.replace(SHA, sha)}&alias=production`
  const { status } = await world.send('POST', `/api/deployments?${query}`, {
    key: world.keys.docs,
    ...archive('application/x-tar', await tar(SITE)),
  })
  expect(status).toBe(201)
  await waitForVariants(world.ctx)
}

async function publishDelta(sha: string): Promise<unknown> {
  const files = Object.entries(SITE).map(([path, content]) => ({
    path,
    size: content.length,
    sha256: sha256(content),
  }))
  const begun = await world.send('POST', '/api/deployments/manifest', {
    key: world.keys.docs,
    json: { ...DOCS, commitSha: sha, files },
  })
  const missing = begun.body['missing'] as string[]
  const sent = Object.values(SITE).filter((content) => missing.includes(sha256(content)))
  const { status } = await world.send('PUT', `/api/deployments/manifest/${begun.body['uploadId']}`, {
    key: world.keys.docs,
    ...archive('application/x-tar', await tar(Object.fromEntries(sent.map((one) => [sha256(one), one])))),
  })
  expect(status).toBe(201)
  return missing
}

async function problems(): Promise<string[]> {
  const found: string[] = []
  for await (const { kind, detail } of findProblems(world.ctx)) found.push(`${kind}: ${detail}`)
  return found
}

async function served(path: string, coding = 'identity'): Promise<{ status: number; text: string }> {
  const answer = await world.call('GET', `/public/acme/docs/production/${path}`, {
    headers: { 'accept-encoding': coding },
  })
  return { status: answer.status, text: await answer.text() }
}

const folder = (name: string) => join(world.ctx.config.dataDir, 'blobs', name)
const largeFile = () => join(folder('files'), sha256(LARGE).slice(0, 2), sha256(LARGE))

/** Other bytes of the same length, as a disk may return them. */
function damageAll(): void {
  for (const name of readdirSync(folder('packs'))) {
    const path = join(folder('packs'), name)
    writeFileSync(path, 'z'.repeat(Bun.file(path).size))
  }
  writeFileSync(largeFile(), 'z'.repeat(LARGE.length))
}

const ways: [name: string, again: () => Promise<unknown>][] = [
  ['the whole folder, for the same commit', () => publish(SHA)],
  ['the whole folder, for another commit', () => publish('bbbbbbb')],
  ['a delta upload', () => publishDelta('bbbbbbb')],
]
test.each(ways)('damage that a check found is mended by publishing again: %s', async (_name, again) => {
  damageAll()
  expect((await served('app.js')).text).toStartWith('zzz')
  expect(await problems()).not.toEqual([])
  await again()
  await resumeVariants(world.ctx)
  await waitForVariants(world.ctx)
  expect(await problems()).toEqual([])
  expect(await served('app.js')).toEqual({ status: 200, text: SMALL })
  expect(await served('large.txt')).toEqual({ status: 200, text: LARGE })
})

test('a delta upload asks for the damaged contents only', async () => {
  writeFileSync(largeFile(), 'z'.repeat(LARGE.length))
  expect(await publishDelta('bbbbbbb')).toEqual([])
  await problems()
  expect(await publishDelta('ccccccc')).toEqual([sha256(LARGE)])
})

test('a damaged compressed form is not sent, and made again', async () => {
  const rows = world.ctx.db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM blob_variants')
  const before = rows.get()
  world.ctx.db.sqlite.run(
    'UPDATE blobs SET offset = offset + 1 WHERE sha256 IN (SELECT variant_sha256 FROM blob_variants) AND pack IS NOT NULL',
  )
  expect((await problems()).join()).toContain('content_damaged')
  expect(await served('app.js', 'br, gzip, zstd')).toEqual({ status: 200, text: SMALL })
  await resumeVariants(world.ctx)
  await waitForVariants(world.ctx)
  expect(rows.get()).toEqual(before)
  expect(await problems()).toEqual([])
})

test('contents that are back count as stored again', async () => {
  const bytes = await Bun.file(largeFile()).bytes()
  rmSync(largeFile())
  expect((await problems()).join()).toContain('content_missing')
  writeFileSync(largeFile(), bytes)
  expect(await problems()).toEqual([])
  expect(await publishDelta('bbbbbbb')).toEqual([])
})

test('an upload that fails leaves a damaged content as it was', async () => {
  writeFileSync(largeFile(), 'z'.repeat(LARGE.length))
  await problems()
  const broken = (await tar(SITE)).slice(0, -LARGE.length / 2)
  const { status } = await world.send('POST', `/api/deployments?${QUERY}`, {
    key: world.keys.docs,
    ...archive('application/x-tar', broken),
  })
  expect(status).toBe(400)
  expect((await problems()).length).toBe(1)
  expect(await Bun.file(largeFile()).exists()).toBe(true)
})
