import { expect, test } from 'bun:test'
import { makeDataDir, onSmallDisk, startServer } from '../testing/server-process.ts'

const MIB = 1024 * 1024
const ADMIN = { email: 'root@example.com', password: 'correct horse battery' }
const SHA = (digit: string) => digit.repeat(40)

test('an upload to a full disk is rejected and leaves nothing behind, and the next one that fits is published', async () => {
  const data = makeDataDir()
  const env = { ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password }
  const server = await startServer(data.path, env, onSmallDisk(data.path, 16))
  const headers = { cookie: await signIn(server.url), 'content-type': 'application/json' }
  const project = { owner: 'acme', name: 'docs', isPublic: true }
  await fetch(`${server.url}/api/projects`, { method: 'POST', headers, body: JSON.stringify(project) })

  const upload = (sha: string, size: number) => {
    const form = new FormData()
    for (const [name, value] of Object.entries({
      owner: 'acme',
      repo: 'docs',
      commitSha: sha,
      alias: 'live',
    }))
      form.set(name, value)
    form.append(
      'file',
      new Blob([crypto.getRandomValues(new Uint8Array(MIB)), new Uint8Array(size - MIB)]),
      'big.bin',
    )
    return fetch(`${server.url}/api/deployments`, {
      method: 'POST',
      headers: { cookie: headers.cookie },
      body: form,
    })
  }
  expect((await upload(SHA('a'), 2 * MIB)).status).toBe(201)
  const refused = await upload(SHA('b'), 40 * MIB)
  expect(refused.status).toBe(507)
  expect(await refused.json()).toMatchObject({ statusCode: 507, error: 'Insufficient Storage' })
  expect((await upload(SHA('c'), 3 * MIB)).status).toBe(201)

  const list = await fetch(`${server.url}/api/deployments`, { headers })
  const { data: deployments } = (await list.json()) as { data: { commitSha: string }[] }
  expect(deployments.map(({ commitSha }) => commitSha).sort()).toEqual([SHA('a'), SHA('c')])
  const shown = await fetch(`${server.url}/big.bin`, { headers: { host: 'live--docs--acme.localhost' } })
  expect((await shown.arrayBuffer()).byteLength).toBe(3 * MIB)
  expect((await fetch(`${server.url}/api/health`)).status).toBe(200)

  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  data.remove()
})

async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN),
  })
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}
