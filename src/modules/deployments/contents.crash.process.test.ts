import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'
import { archive, tar } from './upload/upload.fixture.ts'

/**
 * The real program is killed while it publishes, and while it looks at contents of before: what the bytes of a content
 * say is stored with its row or not at all, and what visitors get does not depend on it.
 */
const data = makeDataDir()
let server: ServerProcess | undefined
afterAll(async () => {
  await kill()
  data.remove()
})

const random = seededRandom(seedOf('contents crash'))
const HOST = 'production--site--acme.localhost'
const FILES = 60

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

const db = <T>(work: (sqlite: Database) => T): T => {
  const sqlite = new Database(join(data.path, 'svc.db'))
  try {
    return work(sqlite)
  } finally {
    sqlite.close()
  }
}

/** Every second page is in ISO-8859-1; contents are new in each round. */
const pageOf = (round: number, i: number): Buffer =>
  Buffer.from(`<p>Gr\u00fc\u00dfe ${round} ${i} ${'wort '.repeat(400)}`, i % 2 === 0 ? 'utf8' : 'latin1')
const typeOf = (i: number): string => (i % 2 === 0 ? 'text/html; charset=utf-8' : 'text/html')

async function publish({ url }: ServerProcess, key: string, round: number): Promise<number> {
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`${i}.html`, pageOf(round, i)]))
  const commitSha = (round + 1).toString(16).padStart(40, '0')
  const query = new URLSearchParams({
    owner: 'acme',
    repo: 'site',
    commitSha,
    alias: 'production',
    isPublic: 'true',
  })
  const { body, headers } = archive('application/x-tar', await tar(files))
  const answer = await fetch(`${url}/api/deployments?${query}`, {
    method: 'POST',
    headers: { ...headers, 'x-api-key': key },
    ...(body instanceof Uint8Array ? { body } : {}),
  })
  return answer.status
}

async function typesServed({ url }: ServerProcess, coding: string): Promise<(string | null)[]> {
  const answers = await Promise.all(
    Array.from({ length: FILES }, (_, i) =>
      fetch(`${url}/${i}.html`, { headers: { host: HOST, 'accept-encoding': coding } }),
    ),
  )
  return answers.map(({ status, headers }) => (status === 200 ? headers.get('content-type') : null))
}

const EXPECTED = Array.from({ length: FILES }, (_, i) => typeOf(i))

test('kill -9 while publishing: a deployment is there with all its types, or not at all', async () => {
  await start()
  const key = (await runSvc(['key', 'create', 'test', '--data-dir', data.path])).stdout.trim()
  let published = -1
  for (let round = 0; round < rounds(3, 60); round++) {
    const upload = publish(server ?? (await start()), key, round).catch(() => 0)
    await Bun.sleep(random() * 120)
    await kill()
    if ((await upload) === 201) published = round
    const halves = db((sqlite) =>
      sqlite
        .query('SELECT b.sha256 FROM blobs b JOIN assets a ON a.blob_id = b.id WHERE b.traits IS NULL')
        .all(),
    )
    expect(halves).toEqual([])
    const running = await start()
    const types = await typesServed(running, 'identity')
    if (published >= 0 || types[0] !== null) expect(types).toEqual(EXPECTED)
  }
  expect(await publish(await restarted(), key, 1000)).toBe(201)
}, 3_600_000)

test('kill -9 while contents of before are looked at, and while forms are made', async () => {
  for (let round = 0; round < rounds(2, 40); round++) {
    await kill()
    db((sqlite) => sqlite.run('UPDATE blobs SET traits = NULL, is_brotli = NULL'))
    const running = await start()
    const asking = typesServed(running, 'br').catch(() => [])
    await Bun.sleep(random() * 60)
    await kill()
    await asking
    expect(await typesServed(await start(), 'br')).toEqual(EXPECTED)
  }
  const { url } = server ?? (await start())
  await until('the compressed forms', async () => {
    const answer = await fetch(`${url}/0.html`, { headers: { host: HOST, 'accept-encoding': 'br' } })
    return answer.headers.get('content-encoding') === 'br'
  })
  await kill()
  const check = await runSvc(['check', '--data-dir', data.path])
  expect([check.code, check.stderr]).toEqual([0, expect.any(String)])
}, 3_600_000)

async function restarted(): Promise<ServerProcess> {
  await kill()
  return start()
}
