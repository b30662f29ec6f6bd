import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { cookieOf, signIn } from '../../testing/full-disk.ts'
import { onRealStore } from '../../testing/real-store.ts'
import { rounds } from '../../testing/rounds.ts'
import { freePort, type ServerProcess } from '../../testing/server-process.ts'
import type { OnStore } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'
import { twoAtOnce, type Writing, writeTo } from '../../testing/writing.ts'

/** contract 18 §4 and §5 on a real store: two machines take over from each other, again and again, while changes are made at both. */

const EACH = rounds(2, 10)

type Name = 'one' | 'two'
const other = (name: Name): Name => (name === 'one' ? 'two' : 'one')
const ports = { one: freePort(), two: freePort() }
const running = new Map<Name, ServerProcess>()
let at: OnStore
let writing: Writing
beforeEach(async () => {
  at = await onRealStore({ ROLE: 'auto', TAKEOVER_SECONDS: '3', NODE_SECRET: 'ab'.repeat(32) })
})
afterEach(async () => {
  for (const server of running.values())
    for (const name of ['SIGCONT', 'SIGKILL'] as const) server.signal(name)
  await Promise.all([...running.values()].map(({ exited }) => exited))
  await at.remove()
})

async function start(name: Name, more: Record<string, string> = {}): Promise<void> {
  const port = String(ports[name])
  const self = { MACHINE_NAME: name, PORT: port, MACHINE_URL: `http://127.0.0.1:${port}` }
  running.set(name, await at.start({ ...self, ...more }, `${at.dataDir}-${name}`))
}

function server(name: Name): ServerProcess {
  const found = running.get(name)
  if (found === undefined) throw new Error(`${name} does not run`)
  return found
}

async function signal(name: Name, how: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  server(name).signal(how)
  const code = await server(name).exited
  if (how === 'SIGTERM') expect(code).toBe(0)
}

/** Undefined while it does not answer. */
async function ask(name: Name, path: string): Promise<Response | undefined> {
  return fetch(`${server(name).url}${path}`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
}

async function isPrimary(name: Name): Promise<boolean> {
  const answer = await ask(name, '/api/health/primary')
  await answer?.body?.cancel()
  return answer?.status === 200
}

/** It is no primary, and has all up to that number. */
async function follows(name: Name, number: number): Promise<boolean> {
  const text = (await (await ask(name, '/metrics'))?.text()) ?? ''
  const value = (metric: string) => Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec(text)?.[1])
  return value('svc_role{role="standby"}') === 1 && value('svc_log_number') >= number
}

const since = (begun: number): number => Math.round(performance.now() - begun)

/** How the primary ceases to be it; what is returned brings it back. */
type Kind = (primary: Name) => Promise<() => Promise<void>>
const KINDS: Record<string, Kind> = {
  async live(primary) {
    await signal(other(primary), 'SIGTERM')
    await start(other(primary), { ROLE: 'primary' })
    return async () => {}
  },
  async killed(primary) {
    await signal(primary, 'SIGKILL')
    return () => start(primary)
  },
  async stopped(primary) {
    server(primary).signal('SIGSTOP')
    return async () => server(primary).signal('SIGCONT')
  },
  async 'told to end'(primary) {
    await signal(primary, 'SIGTERM')
    return () => start(primary)
  },
}

type Took = { primaryMs: number; firstMs: number; followsMs: number }

async function takeOverFrom(primary: Name, kind: Kind): Promise<Took> {
  const next = other(primary)
  const before = writing.acknowledged.length
  await until('changes are made', () => writing.acknowledged.length > before + 10)
  const { epoch = 0 } = writing.acknowledged.at(-1) ?? {}
  const begun = performance.now()
  const bringBack = await kind(primary)
  await until(`${next} is primary`, () => isPrimary(next))
  const primaryMs = since(begun)
  const first = await until('a change', () => writing.acknowledged.find((change) => change.epoch > epoch))
  const back = performance.now()
  await bringBack()
  const { number = 0 } = writing.acknowledged.at(-1) ?? {}
  await until(`${primary} follows`, () => follows(primary, number))
  expect(await isPrimary(primary)).toBe(false)
  return { primaryMs, firstMs: Math.round(first.answeredAt - begun), followsMs: since(back) }
}

/** Those that the store does not have. */
async function lost(): Promise<string[]> {
  const { STORE_URL = '' } = at.env
  const dataDir = `${at.dataDir}-restored`
  expect(await at.svc(['restore', STORE_URL, '--data-dir', dataDir])).toMatchObject({ code: 0 })
  using db = new Database(join(dataDir, 'svc.db'))
  const rows = db.query('SELECT name FROM projects').all() as { name: string }[]
  const there = new Set(rows.map(({ name }) => name))
  rmSync(dataDir, { recursive: true })
  return writing.acknowledged.map(({ name }) => name).filter((name) => !there.has(name))
}

const figures = (all: number[]) => `${Math.min(...all)} to ${Math.max(...all)} ms`

test('take-overs of a live, a killed, a stopped and an ending primary: nothing is lost, and one acknowledges at a time', async () => {
  for (const name of ['one', 'two'] as const) await start(name)
  const cookie = cookieOf(await signIn(server('one')))
  writing = writeTo([server('one').url, server('two').url], cookie)
  let primary: Name = 'one'
  for (const [name, kind] of Object.entries(KINDS)) {
    const took: Took[] = []
    for (let round = 0; round < EACH; round += 1) {
      took.push(await takeOverFrom(primary, kind))
      primary = other(primary)
    }
    const all = (key: keyof Took) => figures(took.map((one) => one[key]))
    console.log(
      `${name}, ${EACH} times: primary after ${all('primaryMs')}, a change after ${all('firstMs')}, the old one follows after ${all('followsMs')}`,
    )
  }
  await writing.end()
  const { acknowledged, refused, wrong } = writing
  console.log(`${acknowledged.length} changes were acknowledged, ${refused} were not`)
  expect(wrong).toEqual([])
  expect(await lost()).toEqual([])
  expect(twoAtOnce(acknowledged)).toEqual([])
  expect(new Set(acknowledged.map(({ epoch }) => epoch)).size).toBe(EACH * 4 + 1)
  expect(await at.svc(['store', 'check'])).toMatchObject({ code: 0 })
}, 1_200_000)
