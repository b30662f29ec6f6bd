import { afterEach, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeDataDir, type ServerProcess, startServer } from '../../testing/server-process.ts'
import { cookieHeader, PASSWORD } from '../../testing/test-app.ts'

let server: ServerProcess | undefined
const folder = makeDataDir()
afterEach(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  folder.remove()
})

test('a request is shown as it arrives; stopping the server ends the tail, and the log is on disk', async () => {
  const env = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: PASSWORD }
  const started = await startServer(folder.path, env)
  server = started
  const { url, signal, exited } = started
  const signin = await fetch(`${url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'root@example.com', password: PASSWORD }),
  })
  const headers = { cookie: cookieHeader(signin) }
  // More than may watch at once: each is answered without its body, and takes no place.
  for (let i = 0; i < 25; i++) {
    const head = await fetch(`${url}/api/logs/tail`, { method: 'HEAD', headers })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, null])
  }
  const tail = await fetch(`${url}/api/logs/tail?status=404`, { headers })
  const reader = tail.body?.pipeThrough(new TextDecoderStream()).getReader()
  await fetch(`${url}/api/nothing?token=hunter2`)
  let text = ''
  while (!text.includes('/api/nothing')) text += (await reader?.read())?.value ?? ''
  expect(text).not.toContain('hunter2')

  signal('SIGTERM')
  while ((await reader?.read())?.done === false);
  expect(await exited).toBe(0)
  expect(existsSync(join(folder.path, 'logs.db'))).toBe(true)
  expect(existsSync(join(folder.path, 'logs.db-wal'))).toBe(false)
}, 60_000)
