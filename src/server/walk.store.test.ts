import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_ADMIN } from '../testing/full-disk.ts'
import { publishTar, shaOf } from '../testing/publish-tar.ts'
import { runSvc } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'
import { MACHINES, type MachineName, WalkedMachines } from '../testing/walked-machines.ts'

/** The walk of docs/scaling.md: from one server to four machines behind HAProxy, of which the first is then destroyed. */

const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
const at = new WalkedMachines()
let key = ''
/** What was told published: the text of each project. */
const told = new Map<string, string>()

afterAll(async () => {
  await at.end()
  rmSync(work, { recursive: true })
})

const hostOf = (project: string) => `live--${project}--acme.sites.example.com`
let commits = 0

/** As CI does it: once again after a failure that may pass. */
async function publish(project: string, text: string, url = at.lb): Promise<boolean> {
  commits += 1
  const to = { url } as Parameters<typeof publishTar>[1]
  const sha = shaOf(commits)
  const files = { 'index.html': text, 'more/page.html': text.repeat(100) }
  const isDone =
    (await publishTar(work, to, key, project, sha, files)) ||
    (await Bun.sleep(1_000).then(() => publishTar(work, to, key, project, sha, files)))
  if (isDone) told.set(project, text)
  return isDone
}

async function read(url: string, project: string, path = '/'): Promise<string> {
  const answer = await fetch(`${url}${path}`, { headers: { host: hostOf(project) } })
  return answer.status === 200 ? await answer.text() : `${answer.status}`
}

/** What was told, and is not served as it was told. */
async function lost(url: string): Promise<string[]> {
  const wrong: string[] = []
  for (const [project, text] of told)
    for (const [path, expected] of [
      ['/', text],
      ['/more/page', text.repeat(100)],
    ] as const) {
      const found = await read(url, project, path)
      if (found !== expected) wrong.push(`${project}${path}: ${found.slice(0, 40)}`)
    }
  return wrong
}

const roleOf = async (name: MachineName) =>
  ((await (await fetch(`${at.at(name).url}/api/health`)).json()) as { role?: string }).role

async function primary(): Promise<MachineName | undefined> {
  for (const name of at.running.keys()) {
    const answer = await fetch(`${at.at(name).url}/api/health/primary`).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.status === 200) return name
  }
  return undefined
}

/** Visitors and CI go on until it is called; what visitors saw that they should not have. */
function underLoad(prefix: string): () => Promise<{ failures: string[]; published: number }> {
  const failures: string[] = []
  let isOver = false
  let published = 0
  const [first = ''] = told.keys()
  const visitor = async () => {
    while (!isOver) {
      const found = await read(at.lb, first).catch((error: unknown) => String(error))
      if (found !== told.get(first)) failures.push(found)
      await Bun.sleep(20)
    }
  }
  const ci = async () => {
    for (let n = 0; !isOver; n += 1) if (await publish(`${prefix}${n}`, `${prefix} ${n}`)) published += 1
  }
  const all = [visitor(), visitor(), ci()]
  return async () => {
    isOver = true
    await Promise.all(all)
    return { failures, published }
  }
}

beforeAll(async () => {
  const alone = await at.startAlone(FIRST_ADMIN)
  key = (await runSvc(['key', 'create', 'ci', '--data-dir', at.dataDir('a')])).stdout.trim()
  expect(await publish('old', 'of the one server', alone.url)).toBe(true)
  at.keepSecretKey()
  await at.makeReader()
}, 120_000)

test('the content of one server moves into the store', async () => {
  expect(await at.svc('a', ['store', 'init', '--create-bucket'])).toMatchObject({ code: 0 })
  expect(await at.stop('a')).toBe(0)
  expect(await at.svc('a', ['store', 'push'])).toMatchObject({ code: 0 })
  const server = await at.start('a')
  expect(await at.svc('a', ['store', 'check', '--quick'])).toMatchObject({ code: 0 })
  expect(await lost(server.url)).toEqual([])
  expect(await roleOf('a')).toBe('primary')
}, 120_000)

test('the others follow, and each serves what there is and what comes', async () => {
  for (const name of ['b', 'c', 'd'] as const) await at.start(name)
  expect(await Promise.all(MACHINES.map(roleOf))).toEqual(['primary', 'standby', 'node', 'node'])
  for (const name of MACHINES) expect([name, await lost(at.at(name).url)]).toEqual([name, []])
  await at.balance()
  for (let n = 0; n < 8; n += 1) {
    expect(await publish(`new${n}`, `through HAProxy ${n}`)).toBe(true)
    // Whoever is asked next: what CI was told is served a second later.
    await Bun.sleep(1_000)
    for (const name of MACHINES) expect([name, await lost(at.at(name).url)]).toEqual([name, []])
  }
}, 120_000)

test('machines are restarted one after the other: visitors see nothing of it, and CI tries once again', async () => {
  const end = underLoad('rolling')
  for (const name of ['b', 'a', 'c', 'd'] as const) {
    expect(await at.stop(name)).toBe(0)
    await until('a primary', async () => (await primary()) !== undefined)
    await at.start(name)
    await Bun.sleep(2_500)
  }
  const { failures, published } = await end()
  expect(failures).toEqual([])
  expect(published).toBeGreaterThan(3)
  expect(await primary()).toBe('b')
  expect(await lost(at.lb)).toEqual([])
}, 240_000)

test('the first machine is destroyed as the primary: all that CI was told is served', async () => {
  expect(await at.stop('b')).toBe(0)
  await until('the first is primary again', async () => (await primary()) === 'a')
  await at.start('b')
  await Bun.sleep(2_500)
  const end = underLoad('last')
  await Bun.sleep(3_000)
  await at.destroy('a')
  const lostAt = performance.now()
  await until('the stand-by is primary', async () => (await primary()) === 'b')
  const silence = performance.now() - lostAt
  await until('CI goes on', () => publish('after', 'the first is gone'))
  const { failures, published } = await end()
  console.log(`primary again after ${Math.round(silence)} ms; ${told.size} projects were told published`)
  expect(failures).toEqual([])
  expect(published).toBeGreaterThan(1)
  for (const name of ['b', 'c', 'd'] as const) expect([name, await lost(at.at(name).url)]).toEqual([name, []])
  expect(await at.svc('b', ['store', 'check'])).toMatchObject({ code: 0 })
}, 240_000)

test('a new first machine follows, and going back to one machine has it all', async () => {
  await at.start('a')
  await until('it follows', async () => (await roleOf('a')) === 'standby')
  await Bun.sleep(1_000)
  expect(await lost(at.at('a').url)).toEqual([])
  for (const name of ['d', 'c', 'a', 'b'] as const) expect(await at.stop(name)).toBe(0)
  const { STORE_URL = '', ...settings } = at.settings('b')
  const alone = join(work, 'alone')
  expect(await runSvc(['restore', STORE_URL, '--data-dir', alone], { env: settings })).toMatchObject({
    code: 0,
  })
  rmSync(at.dataDir('a'), { recursive: true })
  await Bun.spawn(['cp', '-a', alone, at.dataDir('a')]).exited
  const server = await at.startAlone({ SECRET_KEY: settings['SECRET_KEY'] ?? '' })
  expect(await lost(server.url)).toEqual([])
}, 240_000)
