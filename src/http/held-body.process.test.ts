import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { rawConnection } from '../testing/raw-client.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'

/** contract 12.6, Memory: what a hundred unfinished bodies of a real server hold. */
const MIB = 1024 * 1024
const BODIES = 100
const BODY_BYTES = 9_900_000
const BUDGET_MIB = 256
const data = makeDataDir()
let server: ServerProcess | undefined

beforeAll(async () => {
  server = await startServer(data.path, { LOG_LEVEL: 'error' })
})
afterAll(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  data.remove()
})

function residentMib(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) / 1024
}

test('a hundred unfinished bodies of 9.9 MB hold no more than the budget and 64 MiB', async () => {
  const { url, pid } = server ?? (await startServer(data.path))
  const port = Number(new URL(url).port)
  const { stdout } = await runSvc(['key', 'create', 'ci', '--data-dir', data.path])
  const key = stdout.trim()
  const metrics = async () => (await fetch(`${url}/metrics`)).text()
  const refused = async () => {
    // What is read leaves something behind, too.
    await Bun.sleep(100)
    return Number(/_refusals_total\{reason="room"\} (\d+)/.exec(await metrics())?.[1])
  }
  const head = [
    'POST /api/deployments/manifest HTTP/1.1',
    'Host: localhost',
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
  ].join('\r\n')
  const small = await fetch(`${url}/api/deployments/manifest`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: '{}',
  })
  expect(small.status).toBe(400)

  expect(await refused()).toBe(0)
  const before = residentMib(pid)
  const piece = Buffer.alloc(BODY_BYTES - 100, ' ')
  const fitting = Math.floor((BUDGET_MIB * MIB) / piece.length)
  /** The most that it has while they wait. */
  async function wave(): Promise<number> {
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, residentMib(pid))
    }, 20)
    const refusedBefore = await refused()
    const connections = await Promise.all(
      Array.from({ length: BODIES }, (_, i) => rawConnection({ port, from: `127.0.0.${1 + i}` })),
    )
    for (const connection of connections) {
      connection.write(`${head}\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`)
      connection.write(piece)
    }
    await until('the refusals', async () => (await refused()) - refusedBefore >= BODIES - fitting)
    expect((await fetch(`${url}/api/health`)).status).toBe(200)
    for (const connection of connections) connection.reset()
    await until('an empty budget', async () => /\nsvc_buffered_body_bytes 0\n/.test(await metrics()))
    clearInterval(watch)
    console.log(`100 unfinished bodies: ${Math.round(before)} to ${Math.round(most)} MiB`)
    return most
  }
  // How late the runtime's allocator gives back what was freed is chance, and comes atop of what the bodies hold in each wave.
  const waves: number[] = []
  for (let n = 0; n < 3; n++) {
    waves.push(await wave())
    await until('what was freed to be given back', () => residentMib(pid) < before + 64)
  }
  expect(Math.min(...waves) - before).toBeLessThan(BUDGET_MIB + 64)
})
