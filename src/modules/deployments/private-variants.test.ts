import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { collectGarbage } from './collect.ts'
import { noteDamaged } from './damage.ts'
import { resumeVariants, scheduleVariants, waitForVariants } from './variants.ts'

/** contract 15.8: nobody learns from compressed forms, or from when they come, what other projects hold. */
let app: TestApp
beforeEach(async () => {
  app = await testApp()
})
afterEach(() => app.close())

type Files = Record<string, string | Uint8Array>
const words = (length: number, salt: string): string => {
  let text = salt
  for (let i = 0; text.length < length; i++) text += `word ${(i * 2654435761) % 1013} `
  return text.slice(0, length)
}
const SHARED = words(3000, 'shared')

let count = 0
const publish = (repo: string, files: Files, of = app): Promise<Seeded> => {
  count += 1
  return seedDeployment(of, { owner: 'acme', repo, sha: count.toString(16).padStart(40, 'f'), files })
}

async function pass({ deploymentId }: Seeded, of = app): Promise<void> {
  scheduleVariants(of.ctx, deploymentId)
  await waitForVariants(of.ctx)
}

/** All that a visitor sees of how a file is sent. */
async function seen({ host }: Seeded, path: string) {
  const answer = await app.call('GET', path, { host, headers: { 'accept-encoding': 'br, gzip, zstd' } })
  const { headers } = answer
  const names = ['content-encoding', 'vary', 'etag', 'content-length', 'last-modified', 'content-type']
  return names.map((name) => headers.get(name))
}
const codingOf = async (seeded: Seeded, path: string) => (await seen(seeded, path))[0]

const versions = () => app.ctx.db.sqlite.query('SELECT id, version FROM deployments ORDER BY id').values()
const offered = (projectId: string, of = app) =>
  of.ctx.db.sqlite
    .query<{ sha256: string }, [string]>(
      'SELECT b.sha256 FROM project_variants p JOIN blobs b ON b.id = p.blob_id WHERE p.project_id = ? ORDER BY 1',
    )
    .all(projectId)
    .map(({ sha256 }) => sha256)

test('a content that another project has compressed is new, until the own pass has been there', async () => {
  const alone = await publish('alone', { 'a.js': words(3000, 'alone!') })
  const other = await publish('other', { 'a.js': SHARED })
  await pass(other)
  expect(await codingOf(other, '/a.js')).toBe('br')
  const mine = await publish('mine', { 'a.js': SHARED })
  const [coding, vary, , length, ...rest] = await seen(mine, '/a.js')
  expect([coding, vary, length]).toEqual([null, null, '3000'])
  expect(rest).toEqual((await seen(alone, '/a.js')).slice(4))
  const before = await seen(other, '/a.js')
  await pass(mine)
  expect((await seen(mine, '/a.js')).slice(0, 2)).toEqual(['br', 'Accept-Encoding'])
  expect(await seen(other, '/a.js')).toEqual(before)
})

test('what another project does changes nothing of mine', async () => {
  const mine = await publish('mine', { 'a.js': SHARED, 'a.bin': SHARED, LICENSE: SHARED })
  const before = [await seen(mine, '/a.js'), await seen(mine, '/a.bin'), await seen(mine, '/LICENSE')]
  const mineOnly = () => versions().filter(([id]) => id === mine.deploymentId)
  const version = mineOnly()
  const other = await publish('other', { 'b.css': SHARED })
  await pass(other)
  await publish('other', { 'c.html': 'gone' })
  expect([await seen(mine, '/a.js'), await seen(mine, '/a.bin'), await seen(mine, '/LICENSE')]).toEqual(
    before,
  )
  expect(mineOnly()).toEqual(version)
})

test("each file by its own type: a project's other names and other projects' names do not count", async () => {
  const other = await publish('other', { 'a.js': SHARED })
  await pass(other)
  const mine = await publish('mine', { 'a.bin': SHARED })
  await pass(mine)
  expect(await codingOf(mine, '/a.bin')).toBeNull()
  expect(offered(mine.projectId)).toEqual([])
  const both = await publish('mine', { 'a.bin': SHARED, 'b.js': SHARED, 'c.png': SHARED })
  expect(await codingOf(both, '/b.js')).toBeNull()
  await pass(both)
  expect([
    await codingOf(both, '/a.bin'),
    await codingOf(both, '/b.js'),
    await codingOf(both, '/c.png'),
  ]).toEqual([null, 'br', null])
  expect(await codingOf(mine, '/a.bin')).toBeNull()
})

test('the next deployment of the same project has the forms at once', async () => {
  const first = await publish('mine', { 'a.js': SHARED })
  await pass(first)
  const second = await publish('mine', { 'b.js': SHARED })
  expect(await codingOf(second, '/b.js')).toBe('br')
})

describe.each([
  ['while another project has it', true],
  ['while nobody else has it', false],
])('a content that the project lost is new again, %s', (_name, isShared) => {
  const lose: [name: string, lose: (mine: Seeded) => Promise<unknown>][] = [
    [
      'by deleting the deployment',
      ({ deploymentId }) =>
        ask(app, 'DELETE', `/api/deployments/${deploymentId}`, { as: SEED_OWNER }).then(({ status }) =>
          expect(status).toBe(204),
        ),
    ],
    [
      'by deleting the file',
      async ({ deploymentId }) => {
        const row = app.ctx.db.sqlite.query<{ id: string }, [string]>(
          'SELECT id FROM assets WHERE deployment_id = ?',
        )
        const { status } = await ask(app, 'DELETE', `/api/assets/${row.get(deploymentId)?.id}`, {
          as: SEED_OWNER,
        })
        expect(status).toBe(204)
      },
    ],
    [
      'by replacing it',
      async ({ deploymentId }) => {
        const blob = 'SELECT id FROM blobs WHERE sha256 = ?'
        app.ctx.db.sqlite
          .query(`UPDATE assets SET blob_id = (${blob}) WHERE deployment_id = ?`)
          .run(Bun.SHA256.hash('other', 'hex'), deploymentId)
      },
    ],
  ]
  test.each(lose)('%s', async (_way, loseIt) => {
    await publish('unrelated', { 'o.txt': 'other' })
    if (isShared) await pass(await publish('other', { 'a.js': SHARED }))
    const mine = await publish('mine', { 'a.js': SHARED })
    await pass(mine)
    expect(offered(mine.projectId)).toHaveLength(1)
    await loseIt(mine)
    expect(offered(mine.projectId)).toEqual([])
    const again = await publish('mine', { 'a.js': SHARED })
    expect(await codingOf(again, '/a.js')).toBeNull()
    await pass(again)
    expect(await codingOf(again, '/a.js')).toBe('br')
  })
})

/** What the project is offered after each transaction of its pass. */
async function stepsOf(files: Files, known: Files): Promise<string[][]> {
  const world = await testApp()
  try {
    if (Object.keys(known).length > 0) await pass(await publish('other', known, world), world)
    const mine = await publish('mine', files, world)
    const steps: string[][] = []
    const { blobs } = world.ctx
    const { stage } = blobs
    blobs.stage = (stateOf) => {
      const opened = stage(stateOf)
      const release = opened.release.bind(opened)
      opened.release = () => {
        release()
        steps.push(offered(mine.projectId, world))
      }
      return opened
    }
    await pass(mine, world)
    return steps
  } finally {
    world.close()
  }
}

test('the files of one upload change over in the same batches, known elsewhere or not', async () => {
  const small = Array.from(
    { length: 250 },
    (_, i) => [`a/${1000 + i}.js`, words(1100, `small ${i}`)] as const,
  )
  const large = Array.from({ length: 3 }, (_, i) => [`b/${i}.json`, words(4_200_000, `large ${i}`)] as const)
  const rest = [
    ['c/noise.json', crypto.getRandomValues(new Uint8Array(3000))] as const,
    ['d.js', SHARED] as const,
  ]
  const files = Object.fromEntries([...small, ...large, ...rest])
  const some = Object.fromEntries([...small.slice(100, 220), ...large.slice(1), ...rest])
  const unknown = await stepsOf(files, {})
  expect(unknown.map((step) => step.length)).toEqual([200, 252, 255])
  expect(await stepsOf(files, some)).toEqual(unknown)
  expect(await stepsOf(files, files)).toEqual(unknown)
}, 120_000)

test('a pass that did not end is made up for after a restart, for contents that others have too', async () => {
  await pass(await publish('other', { 'a.js': SHARED }))
  const mine = await publish('mine', { 'a.js': SHARED })
  const restarted = { ...app.ctx }
  await resumeVariants(restarted)
  await waitForVariants(restarted)
  expect(await codingOf(mine, '/a.js')).toBe('br')
  expect(app.ctx.db.sqlite.query('SELECT * FROM waiting_deployments').all()).toEqual([])
})

test('the forms are stored once, and freed with the last project that has the content', async () => {
  const other = await publish('other', { 'a.js': SHARED })
  await pass(other)
  const stored = () => app.ctx.db.sqlite.query('SELECT count(*) FROM blobs').values()
  const before = stored()
  const mine = await publish('mine', { 'a.js': SHARED })
  await pass(mine)
  await freeUnused()
  expect(stored()).toEqual(before)
  for (const [one, left] of [
    [other, 4],
    [mine, 0],
  ] as const) {
    expect(
      (await ask(app, 'DELETE', `/api/deployments/${one.deploymentId}`, { as: SEED_OWNER })).status,
    ).toBe(204)
    await freeUnused()
    expect(stored()).toEqual([[left]])
  }
  expect(app.ctx.db.sqlite.query('SELECT * FROM project_variants').all()).toEqual([])
})

test('a damaged form is no longer sent by anybody, and each project makes it again', async () => {
  const [other, mine] = [
    await publish('other', { 'a.js': SHARED }),
    await publish('mine', { 'a.js': SHARED }),
  ]
  await pass(other)
  await pass(mine)
  const form = "SELECT variant_sha256 AS sha256 FROM blob_variants WHERE encoding = 'br'"
  noteDamaged(app.ctx, app.ctx.db.sqlite.query<{ sha256: string }, []>(form).get()?.sha256 ?? '')
  expect([await codingOf(other, '/a.js'), await codingOf(mine, '/a.js')]).toEqual([null, null])
  await resumeVariants(app.ctx)
  await waitForVariants(app.ctx)
  expect([await codingOf(other, '/a.js'), await codingOf(mine, '/a.js')]).toEqual(['br', 'br'])
})

async function freeUnused(): Promise<void> {
  await collectGarbage(app.ctx)
  app.advance(3_700_000)
  await collectGarbage(app.ctx)
}

test('a deleted project leaves none behind, even while it is being compressed', async () => {
  const mine = await publish('mine', { 'a.js': SHARED })
  scheduleVariants(app.ctx, mine.deploymentId)
  expect((await ask(app, 'DELETE', `/api/projects/${mine.projectId}`, { as: SEED_OWNER })).status).toBe(204)
  await waitForVariants(app.ctx)
  expect(app.ctx.db.sqlite.query('SELECT * FROM project_variants').all()).toEqual([])
  expect(app.lines.filter((line) => line.includes('error'))).toEqual([])
})
