import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp } from '../../testing/pipeline-app.ts'
import { inTurn } from './large-reads.ts'

const RECORD = { text: 'ü'.repeat(600_000) }
const COUNT = 5
const ANN = 'ann@example.com'

let app: PipelineApp
let path: string
beforeAll(async () => {
  app = await pipelineApp({}, { isOnDisk: true })
  path = `/api/schemas/${app.addSchema('large', [{ name: 'text', type: 'text' }])}/records`
  for (let n = 0; n < COUNT; n++)
    expect((await app.call('POST', path, { as: ANN, json: RECORD })).status).toBe(201)
})
afterAll(() => app.close())

const page = (as = ANN) => app.call('GET', `${path}?sort=createdAt&order=asc`, { as })

test('between two large reads others are served', async () => {
  const seen: string[] = []
  let served = 0
  const serve = () => {
    served += 1
    if (seen.length < 2) setImmediate(serve)
  }
  serve()
  const read = (name: string) => () => {
    seen.push(`${name} ${served > 2}`)
    Bun.sleepSync(3)
  }
  await Promise.all([inTurn('a', read('first')), inTurn('a', read('second'))])
  expect(seen).toEqual(['first false', 'second true'])
})

test('a read that fails is the only one that does', async () => {
  const failing = inTurn('a', () => {
    throw new Error('broken')
  })
  const next = inTurn('a', () => 'read')
  await expect(failing).rejects.toThrow('broken')
  expect(await next).toBe('read')
})

test('many reads of one schema keep those of another waiting for one of them alone', async () => {
  const seen: string[] = []
  const read = (name: string) => inTurn(name, () => void seen.push(name))
  await Promise.all([read('first'), read('a'), read('a'), read('a'), read('b')])
  expect(seen).toEqual(['first', 'a', 'b', 'a', 'a'])
})

test('of one schema no more than some wait, and the rest is told so', async () => {
  const first = inTurn('first', () => 'read')
  const asked = await Promise.allSettled(Array.from({ length: 250 }, () => inTurn('a', () => 'read')))
  const refused = asked.filter(({ status }) => status === 'rejected')
  expect([await first, refused.length]).toEqual(['read', 50])
  expect(refused[0]).toMatchObject({ reason: { status: 503 } })
})

test('large pages come in parts, and say the same', async () => {
  const first = await (await page()).text()
  const second = await page()
  expect(second.headers.get('content-type')).toBe('application/json')
  const parts: Uint8Array[] = []
  for await (const part of second.body ?? []) parts.push(part)
  expect(parts.length).toBeGreaterThan(COUNT)
  expect(Buffer.concat(parts).toString()).toBe(first)
  expect(JSON.parse(first)).toMatchObject({
    data: Array.from({ length: COUNT }, () => RECORD),
    pagination: { page: 1, limit: 20, total: COUNT, pages: 1 },
  })
})

test('who loses the right meanwhile gets no more of it, and what came does not look whole', async () => {
  const bob = await app.addUser('bob@example.com')
  const members = `/api/projects/${app.projectId}/permissions/users`
  await app.call('POST', members, { as: ANN, json: { userId: bob, role: 'viewer' } })
  await (await page()).text()
  const body = (await page('bob@example.com')).body?.getReader()
  const first = await body?.read()
  expect(new TextDecoder().decode(first?.value)).toStartWith('{"data":[')
  expect((await app.call('DELETE', `${members}/${bob}`, { as: ANN })).status).toBe(204)
  const rest = async () => {
    for (let part = await body?.read(); part?.done === false; part = await body?.read());
  }
  await expect(rest()).rejects.toThrow()
})
