import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LogSync, noLogSync, openLogSync } from './log-sync.ts'

let folder: string
let log: LogSync
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-log-sync-'))
  writeFileSync(join(folder, 'log'), 'written')
  log = openLogSync(join(folder, 'log'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('calls during a sync share the next one, and a later call starts a third', async () => {
  const first = log.sync()
  const second = log.sync()
  expect(second).not.toBe(first)
  expect(log.sync()).toBe(second)
  await first
  await second
  const third = log.sync()
  expect(third).not.toBe(second)
  await third
  log.close()
})

test('a failure rejects all waiting calls and every later one', async () => {
  // The system refuses to sync a device.
  const failing = openLogSync('/dev/null')
  const settled = await Promise.allSettled([failing.sync(), failing.sync(), failing.sync()])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(failing.failure).toMatchObject({ code: 'EINVAL' })
  await expect(failing.sync()).rejects.toBe(failing.failure)
  failing.close()
  log.close()
})

test('nothing may be written after a failure', () => {
  expect(log.refusal()).toBeNull()
  log.failure = new Error('the disk is gone')
  expect(log.refusal()).toMatchObject({ status: 503 })
  log.close()
})

test('a failure noted by other code fails here too', async () => {
  const waiting = log.sync()
  log.failure = new Error('another file of it')
  await expect(waiting).rejects.toThrow('another file of it')
  log.close()
})

test('an in-memory database does not wait', async () => {
  const none = noLogSync()
  await none.sync()
  expect(none.failure).toBeUndefined()
})
