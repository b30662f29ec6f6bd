import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDataDir, type ServerProcess, startServer } from '../../testing/server-process.ts'

const folder = makeDataDir()
let server: ServerProcess
beforeAll(async () => {
  server = await startServer(folder.path)
})
afterAll(async () => {
  server.signal('SIGKILL')
  await server.exited
  folder.remove()
})

const health = async () => {
  const answer = await fetch(`${server.url}/api/health`)
  return { status: answer.status, body: await answer.json() }
}

test('all is well', async () => {
  expect(await health()).toEqual({
    status: 200,
    body: {
      status: 'ok',
      version: expect.any(String),
      uptime: expect.any(Number),
      checks: { database: { status: 'ok' }, storage: { status: 'ok' } },
    },
  })
})

test.each([
  ['svc.db', 'database'],
  ['blobs', 'storage'],
])('503 while %s is gone, naming the %s, and 200 when it is back', async (name, check) => {
  const path = join(folder.path, name)
  renameSync(path, `${path}-away`)
  expect(await health()).toMatchObject({
    status: 503,
    body: { status: 'error', checks: { [check]: { status: 'error', message: expect.any(String) } } },
  })
  renameSync(`${path}-away`, path)
  expect((await health()).status).toBe(200)
})

test('503 while its file is replaced by another database, even a copy', async () => {
  const path = join(folder.path, 'svc.db')
  copyFileSync(path, `${path}-copy`)
  renameSync(path, `${path}-away`)
  renameSync(`${path}-copy`, path)
  expect(await health()).toMatchObject({ status: 503, body: { checks: { database: { status: 'error' } } } })
  renameSync(`${path}-away`, path)
  expect((await health()).status).toBe(200)
})

test('503 while the database file is truncated', async () => {
  const path = join(folder.path, 'svc.db')
  renameSync(path, `${path}-away`)
  writeFileSync(path, '')
  expect((await health()).body).toMatchObject({ checks: { database: { status: 'error' } } })
  renameSync(`${path}-away`, path)
})

test('nothing is acknowledged that would be lost: 503 while svc.db is missing', async () => {
  const path = join(folder.path, 'svc.db')
  const setUp = () =>
    fetch(`${server.url}/api/setup/complete`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ann@example.com', password: 'correct horse battery' }),
    })
  renameSync(path, `${path}-away`)
  const refused = await setUp()
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { statusCode: 503, error: 'Service Unavailable', message: expect.stringContaining('database file') },
  ])
  renameSync(`${path}-away`, path)
  expect((await setUp()).status).toBe(201)
})
