import { expect, test } from 'bun:test'
import { killedServer } from '../../testing/killed-server.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/**
 * The real program is killed while it publishes, and while it looks at contents of before: what the bytes of a content
 * say is stored with its row or not at all, and what visitors get does not depend on it.
 */
const server = killedServer()
const random = seededRandom(seedOf('contents crash'))
const HOST = 'production--site--acme.localhost'
const FILES = 60

/** Every second page is in ISO-8859-1; contents are new in each round. */
const pageOf = (round: number, i: number): Buffer =>
  Buffer.from(`<p>Gr\u00fc\u00dfe ${round} ${i} ${'wort '.repeat(400)}`, i % 2 === 0 ? 'utf8' : 'latin1')
const typeOf = (i: number): string => (i % 2 === 0 ? 'text/html; charset=utf-8' : 'text/html')

function publish(round: number): Promise<number> {
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`${i}.html`, pageOf(round, i)]))
  const commitSha = (round + 1).toString(16).padStart(40, '0')
  const fields = { owner: 'acme', repo: 'site', commitSha, alias: 'production', isPublic: 'true' }
  return server.publish(fields, files)
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
  await server.running()
  await server.key()
  let published = -1
  for (let round = 0; round < rounds(3, 60); round++) {
    const upload = publish(round).catch(() => 0)
    await Bun.sleep(random() * 120)
    await server.kill()
    if ((await upload) === 201) published = round
    const halves = server.db((sqlite) =>
      sqlite
        .query('SELECT b.sha256 FROM blobs b JOIN assets a ON a.blob_id = b.id WHERE b.traits IS NULL')
        .all(),
    )
    expect(halves).toEqual([])
    const types = await typesServed(await server.running(), 'identity')
    if (published >= 0 || types[0] !== null) expect(types).toEqual(EXPECTED)
  }
  await server.again()
  expect(await publish(1000)).toBe(201)
}, 3_600_000)

test('kill -9 while contents of before are looked at, and while forms are made', async () => {
  for (let round = 0; round < rounds(2, 40); round++) {
    await server.kill()
    server.db((sqlite) => sqlite.run('UPDATE blobs SET traits = NULL, is_brotli = NULL'))
    const asking = typesServed(await server.running(), 'br').catch(() => [])
    await Bun.sleep(random() * 60)
    await server.kill()
    await asking
    expect(await typesServed(await server.running(), 'br')).toEqual(EXPECTED)
  }
  const { url } = await server.running()
  await until('the compressed forms', async () => {
    const answer = await fetch(`${url}/0.html`, { headers: { host: HOST, 'accept-encoding': 'br' } })
    return answer.headers.get('content-encoding') === 'br'
  })
  await server.expectWhole()
}, 3_600_000)
