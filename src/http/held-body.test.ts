import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type RawConnection, rawConnection, sendRaw } from '../testing/raw-client.ts'
import { type ServedPipeline, servedPipeline } from '../testing/served-pipeline.ts'
import { until } from '../testing/until.ts'

/** contract 12.6, Memory and Pace, on real sockets. */
const MIB = 1024 * 1024
const BYTES = 'svc_buffered_body_bytes'
const refusals = (reason: string) => `svc_buffered_body_refusals_total{reason="${reason}"}`

let patient: ServedPipeline
let hasty: ServedPipeline
/** The one that the tests of a group ask. */
let served: ServedPipeline
const open: RawConnection[] = []
beforeAll(async () => {
  const env = { BUFFERED_BODY_BYTES: '16MiB', TRUST_PROXY: '127.0.0.1/32' }
  patient = await servedPipeline(env)
  hasty = await servedPipeline({ ...env, BODY_STALL_SECONDS: '1' })
  for (const { app } of [patient, hasty]) await app.addUser('root@example.com', 'admin')
})
afterEach(async () => {
  for (const connection of open.splice(0)) connection.end()
  await isEmpty()
})
afterAll(async () => {
  await patient.close()
  await hasty.close()
})

const isEmpty = () => until('an empty budget', async () => (await served.metric(BYTES)) === 0)

/** A body of 9 MiB for the pipeline of which only so much is sent. */
async function begin(
  address: string,
  bytes: number,
  length: number | null = 9 * MIB,
): Promise<RawConnection> {
  const connection = await rawConnection({ port: served.port })
  const framing = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  const head = served.head('Content-Type: application/json', `X-Forwarded-For: ${address}`, framing)
  connection.write(head)
  const piece = Buffer.alloc(bytes, ' ')
  if (length === null) connection.write(`${bytes.toString(16)}\r\n`)
  connection.write(piece)
  if (length === null) connection.write('\r\n')
  open.push(connection)
  return connection
}

const holds = (bytes: number) =>
  until(`${bytes} held bytes`, async () => (await served.metric(BYTES)) === bytes)

/** Keeps them from being too slow. */
function goOn(connection: RawConnection): { stop(): void } {
  const timer = setInterval(() => connection.write(Buffer.alloc(11 * 1024, ' ')), 300)
  return { stop: () => clearInterval(timer) }
}

describe('memory', () => {
  beforeAll(() => {
    served = patient
  })

  test('a body takes its share as it arrives, and gives it back when it is answered', async () => {
    const body = `{"x":"${'y'.repeat(MIB)}"}`
    const connection = await rawConnection({ port: served.port })
    open.push(connection)
    connection.write(served.head('Content-Type: application/json', `Content-Length: ${body.length}`))
    connection.write(body.slice(0, 300_000))
    await holds(300_000)
    connection.write(body.slice(300_000, 500_000))
    await holds(500_000)
    connection.write(body.slice(500_000))
    expect((await connection.answer).status).toBe(200)
    expect(await served.metric(BYTES)).toBe(0)
  })

  test('one address may not have more than half while another has some', async () => {
    await begin('192.0.2.1', 100_000)
    await holds(100_000)
    const before = await served.metric(refusals('room'))
    const greedy = await begin('192.0.2.2', 8 * MIB + 1)
    const { status, head } = await greedy.answer
    expect(status).toBe(503)
    expect(head).toMatch(/\r\nretry-after: 5\b/i)
    await greedy.closed
    expect(await served.metric(refusals('room'))).toBe(before + 1)
  })

  test('one address alone leaves room for others, unless it holds a single body', async () => {
    await begin('192.0.2.2', 5 * MIB)
    await holds(5 * MIB)
    expect((await (await begin('192.0.2.2', 4 * MIB)).answer).status).toBe(503)
    await begin('192.0.2.1', 8 * MIB)
    await holds(13 * MIB)
    for (const connection of open.splice(0)) connection.end()
    await isEmpty()
    await begin('192.0.2.2', 9 * MIB - 1)
    await holds(9 * MIB - 1)
  })

  const neighbours: [one: string, other: string, areOne: boolean][] = [
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['192.0.2.1', '192.0.2.2', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
  ]
  test.each(neighbours)('%s and %s share one half: %p', async (one, other, areOne) => {
    await begin('198.51.100.1', 100_000)
    await holds(100_000)
    await begin(one, 5 * MIB)
    await holds(100_000 + 5 * MIB)
    const second = await begin(other, 4 * MIB)
    if (areOne) expect((await second.answer).status).toBe(503)
    else await until('both', async () => (await served.metric(BYTES)) >= 100_000 + 9 * MIB)
  })

  test('there is 503 for what finds no room, but a small body needs none', async () => {
    await begin('192.0.2.1', 8 * MIB)
    const last = await begin('192.0.2.2', 8 * MIB - 1000)
    await holds(16 * MIB - 1000)
    expect((await (await begin('192.0.2.3', 100_000)).answer).status).toBe(503)
    const small = `{"x":"${'y'.repeat(64 * 1024 - 8)}"}`
    const head = served.head('Content-Type: application/json', `Content-Length: ${small.length}`)
    expect(
      (await sendRaw({ port: served.port }, [head, small.slice(0, 100), 20, small.slice(100)])).status,
    ).toBe(200)
    last.end()
  })

  const ends: [what: string, end: (connection: RawConnection) => void][] = [
    ['with RST', (connection) => connection.reset()],
    ['without a word', (connection) => connection.end()],
    ['with what is no chunk', (connection) => connection.write('zz\r\n\r\n')],
  ]
  test.each(ends)('a body that ends %s gives its share back', async (_what, end) => {
    const connection = await begin('192.0.2.1', 200_000, null)
    await holds(200_000)
    end(connection)
    await isEmpty()
  })

  test('so do a body that is too large, and one that cannot be parsed', async () => {
    const large = await begin('192.0.2.1', 10 * MIB + 1, null)
    expect((await large.answer).status).toBe(413)
    const broken = await begin('192.0.2.1', MIB, MIB)
    expect((await broken.answer).status).toBe(400)
    await isEmpty()
  })
})

const held: [what: string, lines: string[]][] = [
  ['a JSON body', ['POST /api/auth/signin HTTP/1.1', 'Host: localhost', 'Content-Type: application/json']],
  [
    'a form of a page',
    ['POST /signin HTTP/1.1', 'Host: localhost', 'Content-Type: application/x-www-form-urlencoded'],
  ],
  [
    'a rule push',
    [
      'PUT /api/proxy-rule-sets/project/ID/sync HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'X-API-Key: KEY',
    ],
  ],
  [
    'a manifest',
    [
      'POST /api/deployments/manifest HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'X-API-Key: KEY',
    ],
  ],
  ['a pipeline', ['POST /api/form HTTP/1.1', 'Host: SITE', 'Content-Type: application/json']],
  [
    'a form of parts for a pipeline',
    ['POST /api/form HTTP/1.1', 'Host: SITE', 'Content-Type: multipart/form-data; boundary=b'],
  ],
]
const headOf = (lines: string[], ...more: string[]): string =>
  `${[...lines, ...more].join('\r\n')}\r\n\r\n`
    .replace('ID', served.projectId)
    .replace('KEY', served.key)
    .replace('SITE', served.host)

describe('pace', () => {
  beforeAll(() => {
    served = hasty
  })

  const framings = ['Content-Length: 50', 'Content-Length: 30000', 'Transfer-Encoding: chunked']
  test.each(framings)(
    'a body with %s that stops is 408 and ends the connection, wherever it goes',
    async (framing) => {
      const before = await served.metric(refusals('pace'))
      const ended = held.map(async ([what, lines]) => {
        const connection = await rawConnection({ port: served.port })
        connection.write(headOf(lines, framing))
        connection.write('5\r\nx')
        const { status, head } = await connection.answer
        await connection.closed
        return [what, status, /\r\nconnection: close/i.test(head)]
      })
      expect(await Promise.all(ended)).toEqual(held.map(([what]) => [what, 408, true]))
      expect(await served.metric(refusals('pace'))).toBe(before + held.length)
    },
  )

  test('one that trickles is 408, and one that keeps up is not', async () => {
    const trickling = await begin('192.0.2.1', 20_000)
    const busy = setInterval(() => trickling.write('    '), 50)
    const steady = await begin('192.0.2.2', 20_000)
    const fed = goOn(steady)
    expect((await trickling.answer).status).toBe(408)
    clearInterval(busy)
    const late = Promise.race([steady.answer, Bun.sleep(1500).then(() => undefined)])
    expect(await late).toBeUndefined()
    fed.stop()
    expect((await steady.answer).status).toBe(408)
  })

  test('a thousand at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => begin(`10.0.${i >> 8}.${i & 255}`, 30_000, null)),
    )
    const statuses = new Set(await Promise.all(all.map(async ({ answer }) => (await answer).status)))
    expect([...statuses].sort()).toEqual([408, 503])
  })

  test('an upload is not held: it may stop', async () => {
    const lines = ['POST /api/deployments HTTP/1.1', 'Host: localhost', 'X-API-Key: KEY']
    const connection = await rawConnection({ port: served.port })
    open.push(connection)
    connection.write(headOf(lines, 'Content-Type: multipart/form-data; boundary=b', 'Content-Length: 200000'))
    connection.write(Buffer.alloc(150_000, 'x'))
    expect(await Promise.race([connection.answer, Bun.sleep(1500).then(() => undefined)])).toBeUndefined()
    expect(await served.metric(BYTES)).toBe(0)
  })
})

describe('a coded body is 415', () => {
  const uploads: [what: string, lines: string[]][] = [
    [
      'a deployment',
      [
        'POST /api/deployments?owner=acme&repo=site&commitSha=abcdef1 HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/zip',
        'X-API-Key: KEY',
      ],
    ],
    [
      'files',
      [
        'POST /api/assets/upload HTTP/1.1',
        'Host: localhost',
        'Content-Type: multipart/form-data; boundary=b',
        'X-API-Key: KEY',
      ],
    ],
    [
      'a zip in a form',
      [
        'POST /api/deployments/zip HTTP/1.1',
        'Host: localhost',
        'Content-Type: multipart/form-data; boundary=b',
        'X-API-Key: KEY',
      ],
    ],
  ]
  const codings = ['gzip', 'GZIP', 'identity, br', 'x-unknown']
  const rows = [...held, ...uploads].flatMap(([what, lines]) =>
    codings.map((coding): [string, string, string[]] => [what, coding, lines]),
  )
  test.each(rows)('%s in %s', async (_what, coding, lines) => {
    const head = headOf(lines, `Content-Encoding: ${coding}`, 'Content-Length: 5')
    const { status, head: answer } = await sendRaw({ port: served.port }, [head, 'hello'])
    expect([status, /\r\naccept-encoding: identity/i.test(answer)]).toEqual([415, true])
  })

  test('identity is none, and neither is a coding without a body', async () => {
    const { send, head } = served
    const json = '{"x":"1"}'
    const lines = ['Content-Type: application/json', 'Content-Encoding: Identity']
    expect((await send(head(...lines, `Content-Length: ${json.length}`), json)).status).toBe(200)
    expect((await send(head('Content-Encoding: gzip', 'Content-Length: 0'))).status).not.toBe(415)
  })
})
