import { afterEach, beforeEach, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { devCommand, startTwin, type Twin } from './dev.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

let folder: string
let twin: Twin

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-dev-')))
  cpSync(join(import.meta.dir, '../../examples/guestbook'), folder, { recursive: true })
  twin = await startTwin(folder, testIo({ cwd: folder }), { port: 0, hostname: '127.0.0.1' })
})
afterEach(async () => {
  await twin.close()
  rmSync(folder, { recursive: true })
})

const json = { 'content-type': 'application/json' }

test('serves the pages as a server does, and the rules with them', async () => {
  const page = await fetch(`${twin.url}/about`)
  expect(page.status).toBe(200)
  expect(page.headers.get('etag')).toMatch(/^"/)
  expect(page.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate')
  const note = JSON.stringify({ name: 'Ruth', text: 'Oil & tea' })
  expect((await fetch(`${twin.url}/api/notes`, { method: 'POST', headers: json, body: note })).status).toBe(
    201,
  )
  expect(await (await fetch(`${twin.url}/api/notes`)).json()).toMatchObject([
    { name: 'Ruth', text: 'Oil & tea' },
  ])
  const sent = new URLSearchParams({ name: 'Ann', text: 'Hello', page: 'wall' })
  const back = await fetch(`${twin.url}/api/notes`, { method: 'POST', body: sent, redirect: 'manual' })
  expect([back.status, back.headers.get('location')]).toEqual([303, '../wall/index.html?sent=yes#sign'])
})

test('a page that a browser goes to reloads when a file changes', async () => {
  const visited = await fetch(`${twin.url}/`, { headers: { 'sec-fetch-dest': 'document' } })
  expect(await visited.text()).toContain('<script src="/_dev/live.js"></script>')
  const live = await fetch(`${twin.url}/_dev/live`)
  const reader = live.body?.getReader()
  await reader?.read()
  writeFileSync(join(folder, 'index.html'), '<h1>changed</h1>')
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('changed')
  expect(await (await fetch(`${twin.url}/index.html`)).text()).toBe('<h1>changed</h1>')
  await reader?.cancel()
})

test('signs in whom the page names', async () => {
  const body = new URLSearchParams({ email: 'ann@example.com', role: 'viewer' })
  const answer = await fetch(`${twin.url}/_dev/`, { method: 'POST', body, redirect: 'manual' })
  const cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  const session = await fetch(`${twin.url}/api/auth/session`, { headers: { cookie } })
  expect(await session.json()).toMatchObject({ user: { email: 'ann@example.com' } })
  const forged = await fetch(`${twin.url}/_dev/`, {
    method: 'POST',
    body,
    headers: { origin: 'https://evil.test' },
  })
  expect(forged.status).toBe(403)
})

test.each([[[]], [['a', 'b']], [['nowhere']], [['.', '--port', 'x']]])('%j is wrong usage', async (args) => {
  expect(
    await runCommand({ dev: () => devCommand }, ['dev', ...args], testIo({ cwd: folder }), 'serve'),
  ).toBe(2)
})
