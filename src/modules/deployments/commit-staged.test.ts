import { afterEach, beforeEach, expect, test } from 'bun:test'
import { findProblems } from './check.ts'
import { sweepStore } from './collect.ts'
import { archive, QUERY, SHA, sha256, tar, uploadWorld, type World } from './upload/upload.fixture.ts'
import { resumeVariants, waitForVariants } from './variants.ts'

let world: World
beforeEach(async () => {
  world = await uploadWorld()
})
afterEach(() => world.close())

const LARGE = 'large '.repeat(300_000)
const FILES = { 'index.html': '<h1>Hi</h1>', 'large.txt': LARGE }

/** The disk fails at the end of each commit with contents. With `isThere` the rows are stored, as after a crash. */
async function whileCommitsAreUnsure<T>(code: string, isThere: boolean, work: () => Promise<T>): Promise<T> {
  const { orm } = world.ctx.db
  const transaction = orm.transaction.bind(orm)
  const failed = Object.assign(new Error('disk I/O error'), { code })
  let failures = 0
  orm.transaction = (run, config) => {
    const before = countBlobs()
    const result = transaction((tx) => {
      const result = run(tx)
      if (!isThere && countBlobs() > before) throw failed
      return result
    }, config)
    if (countBlobs() === before) return result
    failures += 1
    throw failed
  }
  try {
    return await work()
  } finally {
    Reflect.deleteProperty(orm, 'transaction')
    expect(failures > 0).toBe(isThere)
  }
}

const countBlobs = (): number =>
  world.ctx.db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM blobs').get()?.n ?? 0

const upload = async () =>
  world.send('POST', `/api/deployments?${QUERY}&alias=live`, {
    key: world.keys.docs,
    ...archive('application/x-tar', await tar(FILES)),
  })

async function problems(): Promise<string[]> {
  const found: string[] = []
  for await (const { detail } of findProblems(world.ctx)) found.push(detail)
  return found
}

test('if the disk fails in the commit and the rows are stored after all, so are their contents', async () => {
  const { status } = await whileCommitsAreUnsure('SQLITE_IOERR_FSYNC', true, upload)
  expect(status).toBe(500)
  expect(Object.keys(world.filesOf(SHA))).toEqual(Object.keys(FILES))
  expect(await problems()).toEqual([])
})

test('if the rows are not stored, the sweep of the next start removes all the contents', async () => {
  const before = world.leftovers()
  const { status } = await whileCommitsAreUnsure('SQLITE_IOERR_WRITE', false, upload)
  expect(status).toBe(500)
  expect(world.leftovers()).not.toEqual(before)
  expect(world.ctx.blobs.isPinned(sha256(LARGE))).toBe(false)
  expect((await upload()).status).toBe(201)
  await sweepStore(world.ctx)
  expect(await problems()).toEqual([])
})

test('a full disk stores neither the commit nor the contents', async () => {
  const before = world.leftovers()
  await whileCommitsAreUnsure('SQLITE_FULL', false, upload)
  expect(world.leftovers()).toEqual(before)
})

test('compressed forms whose rows may be stored stay as well', async () => {
  await whileCommitsAreUnsure('SQLITE_IOERR_WRITE', true, async () => {
    await upload()
    await resumeVariants(world.ctx)
    await waitForVariants(world.ctx)
  })
  expect(world.ctx.db.sqlite.query('SELECT encoding FROM blob_variants').all().length).toBeGreaterThan(0)
  expect(await problems()).toEqual([])
})
