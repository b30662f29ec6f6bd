import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { readSecretKeys } from '../../platform/secret-keys.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'
import { archive, tar } from '../deployments/upload/upload.fixture.ts'
import { fileToken, uploadToken } from './tokens.ts'

/** The real program is killed while it stores files: each is there whole or not at all, and what was answered stays. */
const data = makeDataDir()
let server: ServerProcess | undefined
afterAll(async () => {
  await kill()
  data.remove()
})

const random = seededRandom(seedOf('uploads crash'))
const AT_ONCE = 4
/** A small one shares a pack, a large one is a file of its own. */
const SIZES = [10, 1_500_000]

async function start(): Promise<ServerProcess> {
  server = await startServer(data.path, {
    ADMIN_EMAIL: 'root@example.com',
    ADMIN_PASSWORD: 'correct horse battery',
  })
  return server
}

async function kill(): Promise<void> {
  server?.signal('SIGKILL')
  await server?.exited
}

async function publish({ url }: ServerProcess): Promise<void> {
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  const query = new URLSearchParams({ owner: 'acme', repo: 'site', commitSha: 'a'.repeat(40) })
  const { body, headers } = archive('application/x-tar', await tar({ 'index.html': 'x' }))
  const answer = await fetch(`${url}/api/deployments?${query}`, {
    method: 'POST',
    headers: { ...headers, 'x-api-key': key },
    ...(body instanceof Uint8Array ? { body } : {}),
  })
  expect(answer.status).toBe(201)
}

/** Makes tokens as the server does. */
function tokens(): { put: (path: string) => string; get: (path: string) => string } {
  const sqlite = new Database(join(data.path, 'svc.db'), { readonly: true })
  const projectId = sqlite.query<{ id: string }, []>('SELECT id FROM projects').get()?.id ?? ''
  const secrets = createSecretBox(readSecretKeys(join(data.path, 'secret.key')))
  const ctx = { secrets, now: Date.now, db: { sqlite } as Db } as Context
  const facts = (path: string) => ({ projectId, path, endsAt: Date.now() + 3_600_000 })
  return {
    put: (path) => uploadToken(ctx, { ...facts(path), maxBytes: 1e9, types: null }),
    get: (path) => fileToken(ctx, { ...facts(path), filename: null }),
  }
}

const contentOf = (round: number, i: number): Buffer =>
  Buffer.alloc(SIZES[i % SIZES.length] ?? 1, `${round} ${i} `)

test('kill -9 while files are stored and replaced: nothing half, and nothing lost that was answered', async () => {
  await publish(await start())
  const { put, get } = tokens()
  const stored = new Map<number, number>()
  const statuses = new Set([200])
  for (let round = 0; round < rounds(3, 200); round++) {
    const { url } = server ?? (await start())
    const sending = Array.from({ length: AT_ONCE }, async (_, i) => {
      const body = new Uint8Array(contentOf(round, i))
      const answer = await fetch(`${url}/_svc/uploads?token=${put(`a/${i}`)}`, { method: 'PUT', body })
      statuses.add(answer.status)
      stored.set(i, round)
    })
    const ended = Promise.allSettled(sending)
    await Bun.sleep(random() * 60)
    await kill()
    await ended
    const running = await start()
    for (let i = 0; i < AT_ONCE; i++) {
      const answer = await fetch(`${running.url}/_svc/files/x?token=${get(`a/${i}`)}`)
      const bytes = Buffer.from(await answer.arrayBuffer())
      const last = stored.get(i)
      if (answer.status === 404) expect(last).toBeUndefined()
      else {
        const at = [round, last].find((one) => one !== undefined && bytes.equals(contentOf(one, i)))
        expect([answer.status, i, at]).toEqual([200, i, expect.any(Number)])
        stored.set(i, at ?? round)
      }
    }
  }
  expect([...statuses]).toEqual([200])
  await until('what the crashes left to be removed', () => leftovers().length === 0)
  await kill()
  const checked = await runSvc(['check', '--data-dir', data.path])
  expect([checked.code, checked.stderr]).toEqual([0, expect.any(String)])
}, 3_600_000)

const leftovers = () => readdirSync(join(data.path, 'tmp')).filter((name) => name.startsWith('blob-'))
