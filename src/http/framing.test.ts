import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { chunked } from '../testing/raw-client.ts'
import { type ServedPipeline, servedPipeline } from '../testing/served-pipeline.ts'
import { certificateFolder } from '../testing/tls-process.ts'

/** contract 12.6: a request that is answered 400 for its framing has changed nothing. */
const certificates = certificateFolder(['*.localhost', 'localhost'])
certificates.write('own', certificates.issue())
const served: Record<string, ServedPipeline> = {}

beforeAll(async () => {
  served['plain'] = await servedPipeline()
  await at('plain').app.addUser(ROOT, 'admin')
  served['TLS'] = await servedPipeline({ ...certificates.env('own'), HTTP_PORT: 'off' })
})
afterAll(async () => {
  for (const one of Object.values(served)) await one.close()
  certificates.remove()
})

const ROOT = 'root@example.com'
const JSON_TYPE = 'Content-Type: application/json'
const FORM_TYPE = 'Content-Type: application/x-www-form-urlencoded'
const MULTIPART = 'Content-Type: multipart/form-data; boundary=b'
const PARTS = '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--b--\r\n'
const TE = 'Transfer-Encoding: chunked'
const LONG = JSON.stringify({ x: 'y'.repeat(200_000) })
const bodies: [what: string, type: string, body: string][] = [
  ['JSON', JSON_TYPE, '{"x":"1"}'],
  ['a form', FORM_TYPE, 'x=1'],
  ['a form of parts', MULTIPART, PARTS],
  ['a long body', JSON_TYPE, LONG],
]
const broken: [what: string, wire: (body: string) => string][] = [
  ['a trailer', (body) => `${chunked(body)}X-Checksum: 1\r\n\r\n`],
  ['several trailers', (body) => `${chunked(body)}X-A: 1\r\nX-B: 2\r\n\r\n`],
  ['an extension in quotes', (body) => chunked(body).replace('\r\n', ';a="b c"\r\n').concat('\r\n')],
  [
    'an extension in quotes at the end',
    (body) => chunked(body).replace('\r\n0\r\n', '\r\n0;a="b;c"\r\n\r\n'),
  ],
  ['what is no chunk', (body) => `${chunked(body).replace('\r\n0\r\n', '\r\nzz\r\n')}\r\n`],
  ['a longer chunk', (body) => `${chunked(body).replace('\r\n0\r\n', '!!\r\n0\r\n')}\r\n`],
  ['more behind it', (body) => `${chunked(body)}\r\nmore\r\n\r\n`],
]

describe.each(['plain', 'TLS'])('over %s', (listener) => {
  const rows = bodies.flatMap(([what, type, body]) =>
    broken.map(([fault, wire]): [string, string, string, string] => [what, fault, type, wire(body)]),
  )
  test.each(rows)(
    '%s with %s is 400 and stores nothing, or is stored once',
    async (_what, _fault, type, wire) => {
      const { send, head, records } = at(listener)
      const before = await records()
      const { status } = await send(head(type, TE), wire)
      expect([200, 400]).toContain(status)
      expect((await records()) - before).toBe(status === 200 ? 1 : 0)
    },
  )

  test.each(bodies)('%s in good chunks is stored once', async (_what, type, body) => {
    const { send, head, records } = at(listener)
    const before = await records()
    expect((await send(head(type, TE), `${chunked(body)}\r\n`)).status).toBe(200)
    expect((await send(head(type, TE), chunked(body), 20, '\r\n')).status).toBe(200)
    expect((await records()) - before).toBe(2)
  })

  test.each(bodies)('%s with more bytes than it states changes nothing', async (_what, type, body) => {
    const { send, head, records } = at(listener)
    const before = await records()
    const { status } = await send(head(type, `Content-Length: ${body.length}`), `${body}more\r\n\r\n`)
    expect([status, (await records()) - before]).toEqual([400, 0])
  })

  test('a trailer right behind, in a packet of its own, is 400 and stores nothing, or is stored once', async () => {
    const { send, head, records } = at(listener)
    const before = await records()
    const { status } = await send(head(JSON_TYPE, TE), chunked('{"x":"1"}'), 1, 'X-A: 1\r\n\r\n')
    expect((await records()) - before).toBe(status === 200 ? 1 : 0)
  })

  test.each([0, 300])(
    'a trailer that is announced is 400 and stores nothing, %i ms behind the body',
    async (ms) => {
      const { send, head, records } = at(listener)
      const before = await records()
      const announced = head(JSON_TYPE, TE, 'Trailer: X-A')
      const { status } = await send(announced, chunked('{"x":"1"}'), ms, 'X-A: 1\r\n\r\n')
      expect([status, (await records()) - before]).toEqual([400, 0])
    },
  )

  test('a trailer that comes late is either in time for 400, or too late to matter', async () => {
    const { send, head, records } = at(listener)
    const before = await records()
    const { status } = await send(head(JSON_TYPE, TE), chunked('{"x":"1"}'), 300, 'X-A: 1\r\n\r\n')
    // Where the machine is busy it may be in time.
    expect([
      [200, 1],
      [400, 0],
    ]).toContainEqual([status, (await records()) - before])
  })
})

describe('HTTP/2', () => {
  test('bodies with and without a length are stored once, also beside one that stops', async () => {
    const { port, host, records } = at('TLS')
    const before = await records()
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const head = {
      ':method': 'POST',
      ':path': '/api/form',
      ':authority': host,
      'content-type': 'application/json',
    }
    const stopped = session.request(head)
    stopped.write('{"x":')
    const statuses = await Promise.all([
      statusOf(session.request(head), '{"x":"1"}'),
      statusOf(session.request({ ...head, 'content-length': '9' }), '{"x":"2"}'),
      statusOf(session.request(head), LONG),
    ])
    stopped.close()
    session.close()
    expect(statuses).toEqual([200, 200, 200])
    expect((await records()) - before).toBe(3)
  })
})

describe('routes of the API and the pages', () => {
  const admin = (method: string, path: string, ...lines: string[]) =>
    [`${method} ${path} HTTP/1.1`, 'Host: localhost', TE, ...lines, '', ''].join('\r\n')
  const trailing = (body: string) => `${chunked(body)}X-Checksum: 1\r\n\r\n`

  test('nobody is signed out, whether by the API or by a page', async () => {
    const { send, app } = at('plain')
    await app.addUser('ann@example.com')
    const cookie = await app.cookieOf('ann@example.com')
    const session = async () =>
      (await (await app.call('GET', '/api/auth/session', { headers: { cookie } })).json()).user
    for (const path of ['/api/auth/signout', '/api/auth/logout', '/signout'])
      expect([path, (await send(admin('POST', path, `Cookie: ${cookie}`), trailing('x'))).status]).toEqual([
        path,
        400,
      ])
    expect(await session()).not.toBeNull()
    expect(
      (await send(admin('POST', '/api/auth/signout', `Cookie: ${cookie}`), `${chunked('x')}\r\n`)).status,
    ).toBe(200)
    expect(await session()).toBeNull()
  })

  test('no cookies are cleared', async () => {
    const { send } = at('plain')
    const { status, head } = await send(admin('POST', '/_svc/clear-cookies', 'Cookie: a=1'), trailing('x'))
    expect([status, head]).toEqual([400, expect.not.stringMatching(/set-cookie/i)])
  })

  const rows: [method: string, path: string, body: string, type: string][] = [
    ['POST', '/api/projects', '{"owner":"acme","name":"made"}', JSON_TYPE],
    ['DELETE', '/api/projects/ID', '', JSON_TYPE],
    ['DELETE', '/api/projects/ID', '{}', JSON_TYPE],
    ['PATCH', '/api/projects/ID', '{"displayName":"other"}', JSON_TYPE],
    ['PUT', '/api/proxy-rule-sets/project/ID/sync', '{"ruleSet":{"name":"s"},"rules":[]}', JSON_TYPE],
    ['POST', '/api/deployments', uploadOf('late.html'), MULTIPART],
  ]
  test.each(rows)('%s %s writes nothing', async (method, path, body, type) => {
    const { send, app, key, projectId } = at('plain')
    const isUpload = path === '/api/deployments'
    const credential = isUpload ? `X-API-Key: ${key}` : `Cookie: ${await app.cookieOf(ROOT)}`
    const before = app.ctx.db.writes
    const wire = body === '' ? '0\r\nX-Checksum: 1\r\n\r\n' : trailing(body)
    const head = admin(method, path.replace('ID', projectId), type, credential)
    expect((await send(head, wire)).status).toBe(400)
    expect(app.ctx.db.writes).toBe(before)
  })
})

function at(listener: string): ServedPipeline {
  const found = served[listener]
  if (found === undefined) throw new Error(listener)
  return found
}

function statusOf(stream: ClientHttp2Stream, body: string): Promise<number> {
  const status = new Promise<number>((resolve) =>
    stream.on('response', (headers) => resolve(Number(headers[':status']))),
  )
  stream.end(body)
  return status
}

function uploadOf(filename: string): string {
  const field = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const file = `--b\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n\r\nhi\r\n`
  return `${field('owner', 'acme')}${field('repo', 'late')}${field('commitSha', 'b'.repeat(40))}${file}--b--\r\n`
}
