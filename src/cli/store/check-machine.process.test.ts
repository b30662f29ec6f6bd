import { afterEach, beforeEach, expect, test } from 'bun:test'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerProcess } from '../../testing/server-process.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'

/** contract 18 §1: `svc check` on a machine checks what it has, then the store. */

let at: StoreProcess
const running: ServerProcess[] = []
beforeEach(async () => {
  at = await storeProcess()
})
afterEach(async () => {
  for (const server of running) server.signal('SIGKILL')
  await Promise.all(running.splice(0).map(({ exited }) => exited))
  await at.remove()
})

test('all is well on a primary, on a machine that follows, after a kill, and without a copy', async () => {
  const one = await at.start()
  running.push(one)
  running.push(await at.start({ ROLE: 'standby', MACHINE_NAME: 'two' }, `${at.dataDir}-two`))
  const well = { code: 0, stdout: 'all is well\n' }
  expect(await at.svc(['check'])).toMatchObject(well)
  expect(await at.svc(['check'], { DATA_DIR: `${at.dataDir}-two` })).toMatchObject(well)
  one.signal('SIGKILL')
  await one.exited
  expect(await at.svc(['check'])).toMatchObject(well)
  const none = await at.svc(['check'], { DATA_DIR: `${at.dataDir}-none` })
  expect(none).toMatchObject({ ...well, stderr: expect.stringContaining('the store alone is checked') })
}, 60_000)

test('damage of the copy is named, and so is damage of the store', async () => {
  const one = await at.start()
  one.signal('SIGTERM')
  await one.exited
  const file = openSync(join(at.dataDir, 'svc.db'), 'r+')
  writeSync(file, new Uint8Array(4096), 0, 4096, 8192)
  closeSync(file)
  const { code, stderr } = await at.svc(['check'])
  expect([code, stderr]).toEqual([1, expect.stringContaining(`found in ${at.dataDir}`)])
  const [base] = [...at.store.objects.keys()].filter((key) => key.includes('/db/0000/'))
  at.store.objects.delete(base ?? '')
  const both = await at.svc(['check'])
  expect([both.code, both.stderr]).toEqual([1, expect.stringMatching(/found in .*; the store: /)])
}, 60_000)
