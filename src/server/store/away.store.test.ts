import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cookieOf, signIn } from '../../testing/full-disk.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { onRealStore, signalStore } from '../../testing/real-store.ts'
import { rounds } from '../../testing/rounds.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { newKey, type OnStore } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'
import { writeTo } from '../../testing/writing.ts'

/** contract 18 §4 on a real store that answers nothing for a while, and keeps what was sent to it. */

const AWAY_MS = rounds(8, 30) * 1_000

let at: OnStore
let running: ServerProcess
let key: string
let cookie: string
let work: string
beforeEach(async () => {
  work = mkdtempSync(join(tmpdir(), 'svc-work-'))
  at = await onRealStore({ STORE_TIMEOUT_SECONDS: '2' })
  running = await at.start()
  key = await newKey(at)
  cookie = cookieOf(await signIn(running))
})
afterEach(async () => {
  signalStore('SIGCONT')
  running.signal('SIGKILL')
  await running.exited
  await at.remove()
  rmSync(work, { recursive: true })
})

const call = (path: string, more: RequestInit = {}) =>
  fetch(`${running.url}${path}`, {
    ...more,
    headers: { cookie, origin: running.url, 'content-type': 'application/json' },
  })
const create = (name: string) =>
  call('/api/projects', { method: 'POST', body: JSON.stringify({ owner: 'acme', name }) })
const statusOf = async (path: string) => (await call(path)).status
const READS = ['/repo/acme/site/alias/live/index.html', '/api/projects/acme/site', '/api/health']

/** The status and code of a change that has to be refused within a second. */
async function refusedInTime(name: string): Promise<string> {
  const begun = performance.now()
  const answer = await create(name)
  const { error } = (await answer.json()) as { error: string }
  const took = performance.now() - begun
  return `${answer.status} ${error}${took < 1_000 ? '' : ` after ${Math.round(took)} ms`}`
}

test('the store is away under load: changes are refused at once, reads go on; then all goes on, and nothing is lost', async () => {
  expect(await publishTar(work, running, key, 'site', shaOf(1), { 'index.html': 'hello' })).toBe(true)
  const writing = writeTo([running.url], cookie)
  await until('changes are made', () => writing.acknowledged.length > 20)
  signalStore('SIGSTOP')
  const end = performance.now() + AWAY_MS
  const first = await create('first')
  expect([first.status, first.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await first.json()).toMatchObject({
    error: 'STORE_UNREACHABLE',
    message: expect.stringContaining('may'),
  })
  for (let n = 0; performance.now() < end; n++) {
    expect(await refusedInTime(`away-${n}`)).toBe('503 STORE_UNREACHABLE')
    for (const path of READS) expect(`${path} ${await statusOf(path)}`).toBe(`${path} 200`)
    await Bun.sleep(200)
  }
  signalStore('SIGCONT')
  await until('changes are taken again', async () => (await create('back')).status === 201)
  expect(await publishTar(work, running, key, 'site', shaOf(2), { 'index.html': 'again' })).toBe(true)
  await writing.end()
  expect(writing.wrong).toEqual([])
  console.log(`${writing.acknowledged.length} changes were acknowledged, ${writing.refused} were refused`)
  await at.lose(running)
  running = await at.start()
  for (const { name } of writing.acknowledged)
    expect(`${name} ${await statusOf(`/api/projects/acme/${name}`)}`).toBe(`${name} 200`)
  // The first was committed here, and shipped when the store was back.
  for (const name of ['first', 'back', 'site']) expect(await statusOf(`/api/projects/acme/${name}`)).toBe(200)
  expect(await statusOf('/api/projects/acme/away-0')).toBe(404)
  expect(await (await call('/repo/acme/site/alias/live/index.html')).text()).toBe('again')
}, 200_000)
