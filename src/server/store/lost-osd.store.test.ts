import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cookieOf, signIn } from '../../testing/full-disk.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { onRealStore, startThreeOsds, type ThreeOsds } from '../../testing/real-store.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { newKey, type OnStore } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'
import { writeTo } from '../../testing/writing.ts'

/** A store of three disks loses one of them under load. */

let ceph: ThreeOsds
let at: OnStore
let running: ServerProcess
let key: string
let cookie: string
let work: string
beforeEach(async () => {
  work = mkdtempSync(join(tmpdir(), 'svc-work-'))
  ceph = await startThreeOsds()
  const url = 'http://127.0.0.1:1'
  at = await onRealStore({
    STORE_ENDPOINT: ceph.endpoint,
    NODE_SECRET: 'ab'.repeat(32),
    MACHINE_URL: url,
    // Long silence of the store must not decide who may see what: the machine is alone.
    TAKEOVER_SECONDS: '300',
  })
  running = await at.start()
  key = await newKey(at)
  cookie = cookieOf(await signIn(running))
}, 120_000)
afterEach(async () => {
  running.signal('SIGKILL')
  await running.exited
  await at.remove()
  await ceph.stop()
  rmSync(work, { recursive: true })
})

const read = (path: string) => fetch(`${running.url}${path}`, { headers: { cookie } })

/** What cannot be read until it is ended. */
function visit(path: string): () => Promise<string[]> {
  const wrong: string[] = []
  let isOver = false
  const visits = (async () => {
    while (!isOver) {
      const { status } = await read(path)
      if (status !== 200) wrong.push(`${path} ${status}`)
      await Bun.sleep(20)
    }
  })()
  return async () => {
    isOver = true
    await visits
    return wrong
  }
}

test('one of three disks of the store is gone under load: the service goes on, and nothing is lost', async () => {
  const sites = new Map<string, string>()
  const publish = async (name: string) => {
    const text = `${name} `.repeat(50_000)
    if (await publishTar(work, running, key, name, shaOf(sites.size), { 'index.html': text }))
      sites.set(name, text)
  }
  await publish('before')
  const writing = writeTo([running.url], cookie)
  const endVisits = visit('/repo/acme/before/alias/live/index.html')
  await until('changes are made', () => writing.acknowledged.length > 100)
  expect(await ceph.osdsUp()).toBe(3)

  ceph.killOsd(1)
  const killedAt = performance.now()
  await until('the others know', async () => (await ceph.osdsUp()) === 2)
  const after = () => writing.acknowledged.filter(({ sentAt }) => sentAt > killedAt)
  await until('changes are made again', () => after().length > 100)
  for (let n = 0; n < 5; n += 1) await publish(`after${n}`)
  await writing.end()
  expect(await endVisits()).toEqual([])
  const longest = Math.max(...writing.acknowledged.map(({ sentAt, answeredAt }) => answeredAt - sentAt))
  console.log(
    `${writing.acknowledged.length} changes were acknowledged, ${after().length} of them without the disk; ${writing.refused} were not; the longest waited ${Math.round(longest)} ms`,
  )
  expect(writing.wrong).toEqual([])
  expect(sites.size).toBe(6)

  await at.lose(running)
  running = await at.start()
  for (const { name } of writing.acknowledged)
    expect(`${name} ${(await read(`/api/projects/acme/${name}`)).status}`).toBe(`${name} 200`)
  for (const [name, text] of sites)
    expect(await (await read(`/repo/acme/${name}/alias/live/index.html`)).text()).toBe(text)
  expect(await at.svc(['store', 'check'])).toMatchObject({ code: 0 })
}, 300_000)
