import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import type { StoredBlob } from '../../platform/blob-store.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { resumeVariants, scheduleVariants, stopVariants, waitForVariants } from './variants.ts'

let app: TestApp
beforeEach(async () => {
  app = await testApp()
})
afterEach(() => app.close())

const words = (length: number, salt = ''): string => {
  let text = salt
  for (let i = 0; text.length < length; i++) text += `word ${(i * 2654435761) % 1013} `
  return text.slice(0, length)
}
const noise = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))
const hash = (content: string | Uint8Array): string => Bun.SHA256.hash(content, 'hex')

type Row = StoredBlob & { encoding: string }
const variantsOf = (content: string | Uint8Array): Row[] =>
  app.ctx.db.sqlite
    .query<Row, [string]>(
      `SELECT v.encoding, b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object
       FROM blob_variants v JOIN blobs b ON b.sha256 = v.variant_sha256 WHERE v.sha256 = ? ORDER BY v.encoding`,
    )
    .all(hash(content))
const variantsAt = (content: string | Uint8Array): number | null | undefined =>
  app.ctx.db.sqlite
    .query<{ at: number | null }, [string]>('SELECT variants_at AS at FROM blobs WHERE sha256 = ?')
    .get(hash(content))?.at
const waiting = (): unknown[] =>
  app.ctx.db.sqlite.query('SELECT deployment_id FROM waiting_deployments').all()
const versionOf = (id: string): number =>
  app.ctx.db.sqlite
    .query<{ version: number }, [string]>('SELECT version FROM deployments WHERE id = ?')
    .get(id)?.version ?? 0

let count = 0
const seed = (files: Record<string, string | Uint8Array>, withVariants = true) => {
  count += 1
  const sha = count.toString(16).padStart(40, 'f')
  return seedDeployment(app, { owner: 'acme', repo: 'docs', sha, files, withVariants })
}

const decoders: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array> = {
  br: brotliDecompressSync,
  zstd: Bun.zstdDecompressSync,
  gzip: Bun.gunzipSync,
}

describe('what is compressed', () => {
  const rows: [name: string, path: string, content: string | Uint8Array, encodings: string[]][] = [
    ['a script', 'app.js', words(5000), ['br', 'gzip', 'zstd']],
    ['1 KiB', 'a.css', words(1024), ['br', 'gzip', 'zstd']],
    ['less than 1 KiB', 'a.css', words(1023), []],
    ['a picture', 'a.png', words(5000), []],
    ['an unknown type', 'a.bin', words(5000), []],
    ['noise', 'a.txt', noise(5000), []],
    ['a large file', 'large.json', words(3 * 1024 * 1024), ['br', 'gzip', 'zstd']],
    ['large noise', 'noise.json', noise(1_200_000), []],
    ['a name in capitals', 'A.SVG', words(2000), ['br', 'gzip', 'zstd']],
  ]
  test.each(rows)('%s', async (_name, path, content, encodings) => {
    await seed({ [path]: content })
    const variants = variantsOf(content)
    expect(variants.map(({ encoding }) => encoding)).toEqual(encodings)
    const original = typeof content === 'string' ? new TextEncoder().encode(content) : content
    for (const variant of variants) {
      expect(variant.sizeBytes).toBeLessThanOrEqual(original.length * 0.95)
      const stored = new Uint8Array((await app.ctx.blobs.file(variant)?.arrayBuffer()) ?? [])
      expect(hash(decoders[variant.encoding]?.(stored) ?? '')).toBe(hash(original))
    }
    expect(waiting()).toEqual([])
    expect(app.lines).toEqual([])
  })

  test('a content under two names, one of which is worth compressing', async () => {
    const content = words(3000)
    await seed({ 'a.bin': content })
    expect(variantsAt(content)).toBeNull()
    await seed({ 'a.js': content })
    expect(variantsOf(content)).toHaveLength(3)
    const other = words(3000, 'other')
    await seed({ 'a.bin': other, 'b.js': other, 'c.png': other })
    expect(variantsOf(other)).toHaveLength(3)
    expect(variantsAt(other)).toBe(app.ctx.now())
  })
})

test('many variants share a pack', async () => {
  const contents = Array.from({ length: 8 }, (_, i) => words(1500, `file ${i} `))
  await seed(Object.fromEntries(contents.map((content, i) => [`${i}.js`, content])))
  const packs = new Set(contents.flatMap((content) => variantsOf(content).map(({ pack }) => pack)))
  expect(packs.size).toBe(1)
  expect(contents.every((content) => variantsOf(content).length === 3)).toBe(true)
})

test('every deployment of the project with the content serves the variant from then on', async () => {
  const content = words(3000)
  const first = await seed({ 'a.js': content }, false)
  const second = await seed({ 'b.js': content }, false)
  const ask = async (host: string, path: string) =>
    (await app.call('GET', path, { host, headers: { 'accept-encoding': 'br' } })).headers.get(
      'content-encoding',
    )
  expect([await ask(first.host, '/a.js'), await ask(second.host, '/b.js')]).toEqual([null, null])
  scheduleVariants(app.ctx, first.deploymentId)
  await waitForVariants(app.ctx)
  expect([await ask(first.host, '/a.js'), await ask(second.host, '/b.js')]).toEqual(['br', 'br'])
})

test('once per content: another deployment with it changes nothing', async () => {
  const content = words(3000)
  const first = await seed({ 'a.js': content })
  const version = versionOf(first.deploymentId)
  const second = await seed({ 'a.js': content })
  expect([versionOf(first.deploymentId), versionOf(second.deploymentId)]).toEqual([version, 1])
})

describe('failures', () => {
  test('a damaged content is logged, others are compressed, and it is tried again', async () => {
    const [bad, good] = [words(3000, 'bad'), words(3000, 'good')]
    const { deploymentId } = await seed({ 'bad.js': bad, 'good.js': good }, false)
    const { sqlite } = app.ctx.db
    const row = sqlite.query<StoredBlob, [string]>('SELECT * FROM blobs WHERE sha256 = ?').get(hash(bad))
    sqlite.query('UPDATE blobs SET offset = offset + 1 WHERE sha256 = ?').run(hash(bad))
    scheduleVariants(app.ctx, deploymentId)
    await waitForVariants(app.ctx)
    expect(app.lines.join('')).toContain(hash(bad))
    expect([variantsAt(bad), variantsOf(good).length]).toEqual([null, 3])

    sqlite.query('UPDATE blobs SET offset = ? WHERE sha256 = ?').run(row?.offset ?? 0, hash(bad))
    await resumeVariants(app.ctx)
    await waitForVariants(app.ctx)
    expect(variantsOf(bad)).toHaveLength(3)
  })

  test('a deleted deployment is not a failure', async () => {
    const { deploymentId } = await seed({ 'a.js': words(3000) }, false)
    scheduleVariants(app.ctx, deploymentId)
    app.ctx.db.sqlite.query('DELETE FROM deployments WHERE id = ?').run(deploymentId)
    await waitForVariants(app.ctx)
    expect(app.lines).toEqual([])
  })

  test('a content freed during its compression is not a failure, and leaves nothing behind', async () => {
    const content = words(200_000)
    const { deploymentId } = await seed({ 'a.js': content }, false)
    scheduleVariants(app.ctx, deploymentId)
    await Bun.sleep(5)
    const { sqlite } = app.ctx.db
    sqlite.query('DELETE FROM deployments WHERE id = ?').run(deploymentId)
    sqlite.query('DELETE FROM blobs WHERE sha256 = ?').run(hash(content))
    await waitForVariants(app.ctx)
    expect(app.lines).toEqual([])
    const unknown = sqlite
      .query('SELECT sha256 FROM blobs WHERE sha256 NOT IN (SELECT sha256 FROM blob_candidates)')
      .all()
    expect(unknown).toEqual([])
  })
})

test('stopping keeps what is done and leaves the rest for the next start', async () => {
  const contents = Array.from({ length: 5 }, (_, i) => words(2000, `file ${i} `))
  const { deploymentId } = await seed(
    Object.fromEntries(contents.map((content, i) => [`${i}.js`, content])),
    false,
  )
  const isBegun = firstStaged()
  scheduleVariants(app.ctx, deploymentId)
  await isBegun
  await stopVariants(app.ctx)
  const done = contents.filter((content) => variantsOf(content).length === 3)
  const waiting = contents.filter((content) => variantsAt(content) === null)
  expect(done.length).toBeGreaterThan(0)
  expect(waiting.length).toBeGreaterThan(0)
  expect(done.length + waiting.length).toBe(contents.length)

  scheduleVariants(app.ctx, deploymentId)
  await waitForVariants(app.ctx)
  expect(contents.filter((content) => variantsAt(content) === null)).toHaveLength(waiting.length)

  const restarted = { ...app.ctx }
  await resumeVariants(restarted)
  await waitForVariants(restarted)
  expect(contents.every((content) => variantsOf(content).length === 3)).toBe(true)
})

/** Resolves when the first content from now on is staged. */
function firstStaged(): Promise<void> {
  const { blobs } = app.ctx
  const { stage } = blobs
  return new Promise((resolve) => {
    blobs.stage = (isStored) => {
      const opened = stage(isStored)
      const add = opened.add.bind(opened)
      opened.add = (...content) => add(...content).finally(resolve)
      return opened
    }
  })
}
