import { afterAll, expect, test } from 'bun:test'
import { chunked, rawConnection } from '../testing/raw-client.ts'
import { rounds } from '../testing/rounds.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'

/** The real program is killed amid chunked bodies: what was answered is there, what had not ended is not. */
const data = makeDataDir()
let server: ServerProcess | undefined
afterAll(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  data.remove()
})

const ENV = { ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'correct horse battery' }
const ROUNDS = rounds(3, 40)

test('kill -9 amid a chunked body', async () => {
  server = await startServer(data.path, ENV)
  const { stdout } = await runSvc(['key', 'create', 'ci', '--data-dir', data.path])
  const key = stdout.trim()
  for (let round = 0; round < ROUNDS; round++) {
    const port = Number(new URL(server.url).port)
    const project = (name: string) =>
      JSON.stringify({ files: FILES, owner: 'acme', repo: name, commitSha: SHA })
    const head = [...HEAD, `X-API-Key: ${key}`, '', ''].join('\r\n')
    const begun = await rawConnection({ port })
    const whole = await rawConnection({ port })
    begun.write(head + chunked(project(`begun-${round}`)).slice(0, -4 - (round % 20)))
    whole.write(`${head}${chunked(project(`whole-${round}`))}\r\n`)
    expect(await whole.answer).toMatchObject({ status: 201 })
    server.signal('SIGKILL')
    await server.exited
    begun.end()
    server = await startServer(data.path, ENV)
  }
  const { url } = server
  const found = async (name: string) =>
    (await fetch(`${url}/api/projects/acme/${name}`, { headers: { 'x-api-key': key } })).status
  for (let round = 0; round < ROUNDS; round++) {
    expect(await found(`whole-${round}`)).toBe(200)
    expect(await found(`begun-${round}`)).toBe(404)
  }
}, 300_000)

const SHA = 'a'.repeat(40)
const FILES = [{ path: 'index.html', sha256: 'b'.repeat(64), size: 2 }]
const HEAD = [
  'POST /api/deployments/manifest HTTP/1.1',
  'Host: localhost',
  'Content-Type: application/json',
  'Transfer-Encoding: chunked',
]
