import { beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { readSecretKeys } from '../../platform/secret-keys.ts'
import { killedServer } from '../../testing/killed-server.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { until } from '../../testing/until.ts'
import { fileKey } from './keys.ts'
import { fileToken, uploadToken } from './tokens.ts'

/** The real program is killed while it stores files: each is there whole or not at all, and what was answered stays. */
const server = killedServer()
const random = seededRandom(seedOf('uploads crash'))
const AT_ONCE = 4
/** A small one shares a pack, a large one is a file of its own. */
const SIZES = [10, 1_500_000]
const HOST = 'production--site--acme.localhost'
const PROJECT = { owner: 'acme', name: 'site' }

let address: ReturnType<typeof tokens>
beforeAll(async () => {
  const fields = { owner: 'acme', repo: 'site', commitSha: 'a'.repeat(40), alias: 'production' }
  expect(await server.publish({ ...fields, isPublic: 'true' }, { 'index.html': 'x' })).toBe(201)
  address = tokens()
  await pushRules()
}, 60_000)

const projectId = (): string =>
  server.db((sqlite) => sqlite.query<{ id: string }, []>('SELECT id FROM projects').get()?.id ?? '')

/** Makes tokens as the server does. */
function tokens(): { put: (path: string) => string; get: (path: string) => string } {
  const secrets = createSecretBox(readSecretKeys(join(server.dataDir, 'secret.key')))
  const signed = (path: string, sign: (ctx: Context, facts: Facts) => string) =>
    server.db((sqlite) => {
      const ctx = { secrets, now: Date.now, db: { sqlite } as Db } as Context
      return sign(ctx, { projectId: projectId(), path, endsAt: Date.now() + 3_600_000 })
    })
  return {
    put: (path) => signed(path, (ctx, facts) => uploadToken(ctx, { ...facts, maxBytes: 1e9, types: null })),
    get: (path) => signed(path, (ctx, facts) => fileToken(ctx, { ...facts, filename: null })),
  }
}
type Facts = { projectId: string; path: string; endsAt: number }

/** The forms and registrations of a site make a record of each file. */
async function pushRules(): Promise<void> {
  const { url } = await server.running()
  const key = await server.key()
  const rule = (handlerType: string, subDir: string) => ({
    pathPattern: `/api/${subDir}`,
    method: 'POST',
    pipelineConfig: {
      steps: [{ id: 'stored', handlerType, config: { schemaId: '$schema:files', subDir } }],
    },
  })
  const answer = await fetch(`${url}/api/proxy-rule-sets/project/${projectId()}/sync`, {
    method: 'PUT',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      ruleSet: { name: 'files' },
      schemas: [{ name: 'files', fields: [{ name: 'storage_path', type: 'string', unique: true }] }],
      rules: [rule('file_upload_handler', 'forms'), rule('register_upload', 'registered')],
    }),
  })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
}

const contentOf = (round: number, i: number): Buffer =>
  Buffer.alloc(SIZES[i % SIZES.length] ?? 1, `${round} ${i} `)

const put = async (url: string, path: string, bytes: Buffer): Promise<number> => {
  const body = new Uint8Array(bytes)
  return (await fetch(`${url}/_svc/uploads?token=${address.put(path)}`, { method: 'PUT', body })).status
}

async function stored(url: string, path: string): Promise<Buffer | null> {
  const answer = await fetch(`${url}/_svc/files/x?token=${address.get(path)}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect([200, 404]).toContain(answer.status)
  return answer.status === 404 ? null : bytes
}

const several = <T>(work: (i: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: AT_ONCE }, (_, i) => work(i)))

test('kill -9 while files are stored and replaced: nothing half, and nothing lost that was answered', async () => {
  const answered = new Map<number, number>()
  const statuses = new Set([200])
  for (let round = 0; round < rounds(2, 200); round++) {
    const { url } = await server.running()
    const ended = several(async (i) => {
      statuses.add(await put(url, `a/${i}`, contentOf(round, i)))
      answered.set(i, round)
    })
    await Bun.sleep(random() * 60)
    await server.kill()
    await ended
    const running = await server.running()
    for (let i = 0; i < AT_ONCE; i++) {
      const bytes = await stored(running.url, `a/${i}`)
      const last = answered.get(i)
      if (bytes === null) expect(last).toBeUndefined()
      else {
        const at = [round, last].find((one) => one !== undefined && bytes.equals(contentOf(one, i)))
        expect([i, at]).toEqual([i, expect.any(Number)])
        answered.set(i, at ?? round)
      }
    }
  }
  expect([...statuses]).toEqual([200])
  await until('what the crashes left to be removed', () => leftovers().length === 0)
  await server.expectWhole()
}, 3_600_000)

type Sent = { path: string; content: Buffer }

test('kill -9 between a file and its record: both are there, or neither, and what was answered stays', async () => {
  const answered: Sent[] = []
  for (let round = 0; round < rounds(2, 200); round++) {
    const { url } = await server.running()
    const key = (i: number) => fileKey(PROJECT, `registered/${round}-${i}`)
    for (let i = 0; i < AT_ONCE; i++)
      expect(await put(url, `registered/${round}-${i}`, contentOf(round, i))).toBe(200)
    const sent = answered.length
    const note = async (answer: Response, content: Buffer) => {
      const text = await answer.text()
      expect([answer.status, text]).toEqual([200, expect.any(String)])
      const path = /"storage_path":"acme\/site\/uploads\/([^"]+)"/.exec(text)?.[1] ?? ''
      answered.push({ path, content })
    }
    const forms = several(async (i) => note(await sendForm(url, contentOf(round, i)), contentOf(round, i)))
    const registrations = several(async (i) => note(await register(url, key(i)), contentOf(round, i)))
    await Bun.sleep(random() * 80)
    await server.kill()
    const refused = [...(await forms), ...(await registrations)].filter(
      (one) => one.status === 'rejected' && !isCutOff(one.reason),
    )
    expect(refused).toEqual([])
    expect(registered()).toEqual(recorded())
    expect(recorded()).toEqual(expect.arrayContaining(answered.map(({ path }) => fileKey(PROJECT, path))))
    const running = await server.running()
    for (const { path, content } of answered.slice(sent))
      expect((await stored(running.url, path))?.equals(content)).toBe(true)
  }
  const { url } = await server.running()
  expect((await sendForm(url, contentOf(0, 0))).status).toBe(200)
  expect(registered()).toEqual(recorded())
  await until('what the crashes left to be removed', () => leftovers().length === 0)
  await server.expectWhole()
}, 3_600_000)

/** What fetch throws, other than a failed expectation. */
const isCutOff = (reason: unknown): boolean => reason instanceof Error && 'code' in reason

function sendForm(url: string, content: Buffer): Promise<Response> {
  const body = new FormData()
  body.append('file', new File([new Uint8Array(content)], 'a.txt', { type: 'text/plain' }))
  return fetch(`${url}/api/forms`, { method: 'POST', headers: { host: HOST }, body })
}

const register = (url: string, storageKey: string): Promise<Response> =>
  fetch(`${url}/api/registered`, {
    method: 'POST',
    headers: { host: HOST, 'content-type': 'application/json' },
    body: JSON.stringify({ storageKey }),
  })

const keysOf = (query: string): string[] =>
  server.db((sqlite) =>
    sqlite
      .query<{ key: string }, []>(query)
      .all()
      .map(({ key }) => key)
      .sort(),
  )
const registered = () =>
  keysOf("SELECT 'acme/site/uploads/' || path AS key FROM project_files WHERE is_registered = 1")
const recorded = () => keysOf("SELECT data ->> '$.storage_path' AS key FROM records")

const leftovers = () => readdirSync(join(server.dataDir, 'tmp')).filter((name) => name.startsWith('blob-'))
