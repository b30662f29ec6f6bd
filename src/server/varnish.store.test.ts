import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishTar, shaOf } from '../testing/publish-tar.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'

/** A real Varnish (Debian: varnish, varnish-modules) with the configuration of docs/scaling.md before the real program. */
const GUIDE = join(import.meta.dir, '../..', 'docs', 'scaling.md')
const HOST = 'live--docs--acme.localhost'

const data = makeDataDir()
const work = mkdtempSync(join(tmpdir(), 'svc-varnish-'))
let server: ServerProcess
let varnish: Bun.Subprocess
let key = ''
let cache = ''

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

beforeAll(async () => {
  const port = await freePort()
  cache = `http://127.0.0.1:${port}`
  server = await startServer(data.path, {
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'correct horse battery',
    CDN_KIND: 'varnish',
    CDN_URL: cache,
    TRUST_PROXY: '127.0.0.1/32',
  })
  key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  const [, vcl = ''] = /```vcl\n([\s\S]*?)```/.exec(readFileSync(GUIDE, 'utf8')) ?? []
  const file = join(work, 'svc.vcl')
  writeFileSync(file, vcl.replace('"3000"', `"${new URL(server.url).port}"`))
  const folder = ['-n', join(work, 'varnish'), '-a', `127.0.0.1:${port}`, '-T', 'none']
  varnish = Bun.spawn(['varnishd', '-F', '-j', 'none', ...folder, '-f', file, '-s', 'malloc,64m'], {
    stdout: 'ignore',
    stderr: 'inherit',
  })
  await until('Varnish answers', () =>
    fetch(cache, { method: 'PURGE' }).then(
      ({ status }) => status === 400,
      () => false,
    ),
  )
})

afterAll(async () => {
  varnish.kill()
  server.signal('SIGKILL')
  await Promise.all([varnish.exited, server.exited])
  data.remove()
  rmSync(work, { recursive: true, force: true })
})

const publish = (i: number, text: string) =>
  publishTar(work, server, key, 'docs', shaOf(i), { 'index.html': text, 'a.txt': text }).then((isDone) =>
    expect(isDone).toBe(true),
  )

async function seen(path = '/', headers: Record<string, string> = {}) {
  const answer = await fetch(`${cache}${path}`, { headers: { host: HOST, ...headers } })
  const isHit = (answer.headers.get('x-varnish') ?? '').includes(' ')
  return { status: answer.status, text: await answer.text(), isHit, headers: answer.headers }
}

test('what is kept is forgotten within a second of a move, and no old page is left after 7 seconds', async () => {
  await publish(1, 'one')
  expect(await seen()).toMatchObject({ status: 200, text: 'one' })
  expect(await seen()).toMatchObject({ text: 'one', isHit: true })
  expect((await seen()).headers.has('xkey')).toBe(false)
  for (const [i, text] of [
    [2, 'two'],
    [3, 'three'],
  ] as const) {
    await publish(i, text)
    const movedAt = performance.now()
    await until('the new page shows', async () => (await seen()).text === text)
    expect(performance.now() - movedAt).toBeLessThan(1000)
  }
  while ((await seen('/a.txt')).isHit === false) await Bun.sleep(10)
  // Meanwhile readers fetch as fast as they can, so that an old answer would be stored again.
  const publishing = publish(4, 'four')
  const start = performance.now()
  let last = ''
  while (performance.now() - start < 7500) last = (await seen('/a.txt')).text
  await publishing
  expect(last).toBe('four')
  for (const path of ['/', '/a.txt']) expect((await seen(path)).text).toBe('four')
})

test('ranges and conditions are answered by the cache; errors and strangers are not', async () => {
  await seen('/a.txt')
  const whole = await seen('/a.txt')
  expect(await seen('/a.txt', { range: 'bytes=0-1' })).toMatchObject({ status: 206, text: 'fo', isHit: true })
  const known = { 'if-none-match': whole.headers.get('etag') ?? '' }
  expect(await seen('/a.txt', known)).toMatchObject({ status: 304, isHit: true })
  await seen('/missing.js')
  expect(await seen('/missing.js')).toMatchObject({ status: 404, isHit: false })
  expect((await fetch(cache, { method: 'PURGE', headers: { host: HOST } })).status).toBe(400)
})

test('what was made private is gone within a second, for everybody', async () => {
  expect((await seen()).status).toBe(200)
  const signedIn = await fetch(`${server.url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'root@example.com', password: 'correct horse battery' }),
  })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  const found = await fetch(`${server.url}/api/projects`, { headers: { cookie } })
  const { projects } = (await found.json()) as { projects: { id: string }[] }
  const changed = await fetch(`${server.url}/api/projects/${projects[0]?.id}`, {
    method: 'PATCH',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ isPublic: false }),
  })
  expect(changed.status).toBe(200)
  const changedAt = performance.now()
  await until('nobody sees it', async () => (await seen()).status === 404)
  expect(performance.now() - changedAt).toBeLessThan(1000)
})
