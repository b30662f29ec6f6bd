import { describe, expect, test } from 'bun:test'
import { type Fields, type Files, UPLOADS, withWebSite } from '../../releases/releases.fixture.ts'

/** `ask=true`: where it is unclear what the alias would show, it stays. contract 17.3. */

const SITE = { 'index.html': 'home' }
const web = withWebSite(SITE)

const publish = (files: Files, fields: Fields = {}, kind = 'form') => {
  const upload = UPLOADS[kind]
  if (upload === undefined) throw new Error(kind)
  return upload(web.app, files, { commitSha: web.nextSha(), alias: web.alias, ...fields })
}
const aliasNow = async () => {
  const { body } = await web.call('GET', `/api/aliases?projectId=${web.seeded.projectId}&name=${web.alias}`)
  return (body['data'] as { id: string; deploymentId: string; url: string }[])[0]
}
const idOf = ({ body }: Awaited<ReturnType<typeof publish>>) => body.deploymentId ?? body.deployment?.id ?? ''
const askedOf = ({ body }: { body: object }) => (body as { ask?: { startPages: string[] } }).ask

const DEEP = {
  'dist/index.html': 'a',
  'a/b/c/index.html': 'b',
  'a/b/c/d/index.html': 'too deep',
  'x.txt': 'x',
}

describe('ask=true', () => {
  test.each(['form', 'zip', 'manifest'])('%s: a start page that lies deeper is asked about', async (kind) => {
    const before = await publish(SITE)
    const answer = await publish(DEEP, { ask: 'true' }, kind)
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ published: false, release: { status: 'asked', alias: web.alias } })
    expect(askedOf(answer)).toEqual({ startPages: ['dist/', 'a/b/c/'] })
    expect((await aliasNow())?.deploymentId).toBe(idOf(before))
  })

  test('a new alias is not made', async () => {
    expect((await publish(DEEP, { ask: 'true' })).body.published).toBe(false)
    expect(await aliasNow()).toBeUndefined()
  })

  test('no start page anywhere: asked where the alias shows one, with nothing to choose', async () => {
    await publish(SITE)
    const answer = await publish({ 'about.html': 'about' }, { ask: 'true' })
    expect(answer.body.release?.status).toBe('asked')
    expect(askedOf(answer)).toEqual({ startPages: [] })
  })

  test.each<[why: string, before: Files | null, files: Files, fields: Fields]>([
    ['a start page at the top', SITE, { 'index.html': 'new', 'dist/index.html': 'x' }, {}],
    ['one in the folder that is named', SITE, DEEP, { basePath: 'dist' }],
    ['none anywhere, and none before', { 'a.txt': 'a' }, { 'b.txt': 'b' }, {}],
    ['none anywhere, and no alias before', null, { 'b.txt': 'b' }, {}],
  ])('%s: it moves', async (_, before, files, fields) => {
    if (before !== null) await publish(before)
    const answer = await publish(files, { ask: 'true', ...fields })
    expect(answer.body).toMatchObject({ published: true })
    expect(askedOf(answer)).toBeUndefined()
  })

  test('without it, and of assets/upload, uploads do what they did', async () => {
    await publish(SITE)
    expect((await publish(DEEP)).body).toMatchObject({ published: true })
    await publish(SITE)
    expect((await publish(DEEP, { ask: 'true' }, 'assets')).body).toMatchObject({ published: true })
  })

  test('a locked alias is locked, whatever it would show', async () => {
    await publish(SITE)
    await web.call('PATCH', `/api/aliases/${(await aliasNow())?.id}`, { isLocked: true })
    expect((await publish(DEEP, { ask: 'true' })).body.release?.status).toBe('locked')
  })

  test('other words are refused', async () => {
    expect((await publish(SITE, { ask: 'yes' })).status).toBe(400)
  })

  test('what was asked needs attention until the alias moves', async () => {
    await publish(SITE)
    web.app.advance(1000)
    await publish(DEEP, { ask: 'true' })
    const codes = async () => {
      const { body } = await web.call('GET', `/api/projects/${web.seeded.projectId}/attention`)
      const items = body['items'] as { code: string; message: string }[]
      return items.filter(({ message }) => message.includes(web.alias)).map(({ code }) => code)
    }
    expect(await codes()).toEqual(['release-held'])
    web.app.advance(1000)
    await publish(SITE)
    expect(await codes()).toEqual([])
  })
})

describe('basePath beside the deployment', () => {
  test('an answer moves the alias to the folder, and a way back keeps it', async () => {
    const first = await publish(SITE)
    const asked = await publish(DEEP, { ask: 'true' })
    const alias = await aliasNow()
    const patch = (change: object) => web.call('PATCH', `/api/aliases/${alias?.id}`, change)
    expect((await patch({ deploymentId: idOf(asked), basePath: 'dist/' })).status).toBe(200)
    const url = new URL(alias?.url ?? '')
    const shown = async () =>
      (await web.app.call('GET', '/', { host: url.host, as: 'seed-owner@example.com' })).text()
    expect(await shown()).toBe('a')
    await patch({ deploymentId: idOf(first) })
    await patch({ deploymentId: idOf(asked) })
    expect(await shown()).toBe('a')
    await patch({ deploymentId: idOf(asked), basePath: '/' })
    expect(await shown()).not.toBe('a')
  })

  test.each([
    [{ basePath: 'dist' }],
    [{ basePath: '../etc', deploymentId: 'asked' }],
    [{ basePath: 'none', deploymentId: 'asked' }],
  ])('abuse: %j is refused', async (change) => {
    await publish(SITE)
    const asked = await publish(DEEP, { ask: 'true' })
    const alias = await aliasNow()
    const sent = 'deploymentId' in change ? { ...change, deploymentId: idOf(asked) } : change
    const answer = await web.call('PATCH', `/api/aliases/${alias?.id}`, sent)
    expect(answer.status).toBe(400)
    expect((await aliasNow())?.deploymentId).not.toBe(idOf(asked))
  })

  test('a new alias shows a folder', async () => {
    const { projectId } = web.seeded
    const deploymentId = idOf(await publish(DEEP, { alias: '' }))
    const made = await web.call('POST', '/api/aliases', {
      projectId,
      name: web.alias,
      deploymentId,
      basePath: '/dist',
    })
    expect(made.status).toBe(201)
  })
})
