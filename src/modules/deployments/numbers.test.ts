import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { findTarget } from './find-target.ts'
import {
  archive,
  type Content,
  DOCS,
  fieldParts,
  fileParts,
  SHA,
  tar,
  uploadWorld,
  type World,
} from './upload/upload.fixture.ts'

/** Numbers and titles of deployments. contract 17.1. */

let world: World
const NO_LIMITS = { RATE_LIMIT_UPLOAD: '0', RATE_LIMIT_API: '0' }

type Made = { id: string; number: number; title: string | null; projectId: string }

const shaOf = (n: number) => n.toString(16).padStart(40, '0')

async function publish(files: Record<string, Content>, fields: Record<string, string> = {}) {
  const given = fieldParts({ ...DOCS, ...fields })
  const { status, body } = await world.sendForm(
    '/api/deployments',
    world.keys.docs,
    ...given,
    ...fileParts(files),
  )
  return { status, made: body['deployment'] as Made }
}

const page = (content: string) => ({ 'index.html': content })
const numbersIn = (query = '') =>
  world.ctx.db.sqlite
    .query<{ number: number }, []>(`SELECT number FROM deployments ${query} ORDER BY number`)
    .all()
    .map(({ number }) => number)

async function get(path: string) {
  const { status, body } = await world.send('GET', path, { key: world.keys.docs })
  return { status, body }
}

describe('publishing', () => {
  beforeEach(async () => {
    world = await uploadWorld(NO_LIMITS)
  })
  afterEach(() => world.close())

  test('each deployment of a project gets the next number; what makes none takes none', async () => {
    const first = await publish(page('1'), { commitSha: shaOf(1) })
    expect(first.made.number).toBe(1)
    expect((await publish(page('1'), { commitSha: shaOf(1) })).made).toMatchObject({
      id: first.made.id,
      number: 1,
    })
    const appended = await publish({ 'a.txt': 'a' }, { commitSha: shaOf(1), append: 'true' })
    expect(appended.made).toMatchObject({ id: first.made.id, number: 1 })
    expect((await publish({ 'index.html/x': 'x', 'index.html': 'y' }, { commitSha: shaOf(2) })).status).toBe(
      400,
    )
    expect((await publish(page('2'), { commitSha: shaOf(1) })).made.number).toBe(2)
    expect((await publish(page('3'), { commitSha: shaOf(3) })).made.number).toBe(3)
  })

  test('a number never comes twice, also when the newest was deleted', async () => {
    await publish(page('1'))
    const { made } = await publish(page('2'), { commitSha: shaOf(2) })
    const deleted = await world.send('DELETE', `/api/deployments/${made.id}`, {
      headers: { cookie: world.cookie('ann') },
    })
    expect(deleted.status).toBe(204)
    expect((await publish(page('3'), { commitSha: shaOf(2) })).made.number).toBe(3)
    expect((await get(`/api/projects/${made.projectId}/deployments/2`)).status).toBe(404)
  })

  test('two hundred publishes at once: no number twice, none missing', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const query = new URLSearchParams({ ...DOCS, commitSha: shaOf(n % 100) })
        const body = archive('application/x-tar', await tar(page(`${n}`)))
        return world.send('POST', `/api/deployments?${query}`, { key: world.keys.docs, ...body })
      }),
    )
    const given = answers.map(({ body }) => (body['deployment'] as Made).number)
    expect(given.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1))
    expect(numbersIn()).toEqual(given)
  })

  test('records of deployments and aliases, and the history of an alias, say number and title', async () => {
    const { made } = await publish(page('1'), { alias: 'live', description: 'First words\nand more' })
    expect(made).toMatchObject({ number: 1, title: 'First words' })
    await publish(page('2'), { alias: 'live', commitSha: shaOf(2), description: '\u0007' })
    const { body } = await get(`/api/aliases?projectId=${made.projectId}`)
    const [alias] = body['data'] as { id: string }[]
    expect(alias).toMatchObject({ number: 2, title: null })
    const { history } = (await get(`/api/aliases/${alias?.id}/history`)).body
    expect(history).toMatchObject([
      { number: 2, title: null },
      { number: 1, title: 'First words' },
    ])
  })

  test('a title follows the description of an append', async () => {
    await publish(page('1'), { description: 'One' })
    const { made } = await publish({ 'a.txt': 'a' }, { append: 'true', description: 'Two\n…' })
    expect(made).toMatchObject({ number: 1, title: 'Two' })
    expect((await publish(page('3'))).made).toMatchObject({ number: 2, title: 'Two' })
  })
})

describe('asking for them', () => {
  let projectId = ''
  let asked: World
  beforeAll(async () => {
    asked = await uploadWorld(NO_LIMITS)
    world = asked
    for (const [n, description, branch] of [
      [1, 'New prices', 'main'],
      [2, 'A <b>form</b> of 100%', 'feature/Form'],
      [3, '', 'main'],
    ] as const)
      projectId = (await publish(page(`${n}`), { commitSha: `${n}abcdef`, description, branch })).made
        .projectId
  })
  afterAll(() => asked.close())
  const list = async (query: string) => {
    const { status, body } = await get(`/api/deployments?${query}`)
    return status === 200 ? (body['data'] as Made[]).map(({ number }) => number) : status
  }

  test.each([
    ['number=2', [2]],
    ['number=9', []],
    ['number=99999999999', []],
    ['number=0', 400],
    ['number=1e3', 400],
    ['number=%232', 400],
    ['number=', [3, 2, 1]],
    ['sort=number', [3, 2, 1]],
    ['sort=number&order=asc', [1, 2, 3]],
    ['q=PRICES', [1]],
    ['q=form', [2]],
    ['q=%25', [2]],
    ['q=_', []],
    ['q=3', [3]],
    ['q=%233', [3]],
    ['q=2ABC', [2]],
    ['q=abcdef', []],
    [`q=${'x'.repeat(10_000)}`, []],
  ])('%s', async (query, expected) => {
    expect(await list(`projectId=${projectId}&${query}`)).toEqual(expected)
  })

  test('a number alone is one of no project', async () => {
    expect(await list('number=2')).toBe(400)
    expect(await list('number=2&owner=acme')).toBe(400)
    expect(await list('number=2&owner=acme&repo=docs')).toEqual([2])
  })

  test.each([
    ['2', 200],
    ['4', 404],
    ['0', 404],
    ['02', 404],
    ['1e3', 404],
    ['%232', 404],
    ['99999999999', 404],
  ])('the deployment by its number: %s', async (number, status) => {
    const answer = await get(`/api/projects/${projectId}/deployments/${number}`)
    expect(answer.status).toBe(status)
    if (status === 200) expect(answer.body).toMatchObject({ number: Number(number), projectId })
  })

  test('a target is an id, then an alias of exactly that name, then a number', async () => {
    const [third] = ((await get('/api/deployments?limit=1')).body['data'] ?? []) as Made[]
    const numberOf = (target: string) => findTarget(world.ctx, projectId, target)?.number
    expect([numberOf(third?.id ?? ''), numberOf('2'), numberOf('#2'), numberOf('7')]).toEqual([
      3,
      2,
      2,
      undefined,
    ])
    const json = { projectId, name: '2', deploymentId: third?.id }
    expect((await world.send('POST', '/api/aliases', { key: world.keys.docs, json })).status).toBe(201)
    expect([numberOf('2'), numberOf('#2'), numberOf('0'), numberOf(SHA)]).toEqual([
      3,
      2,
      undefined,
      undefined,
    ])
    expect(findTarget(world.ctx, world.ctx.newId(), third?.id ?? '')).toBeUndefined()
  })
})
