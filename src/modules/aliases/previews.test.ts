import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { zip } from '../../platform/archive/zip.fixture.ts'
import { serveKnownUrl } from '../../site/known-urls.ts'
import { ask } from '../../testing/ask.ts'
import { nextSha, publishForm } from '../../testing/preview-publish.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedKey, seedMember } from '../../testing/seed-people.ts'
import { type CallOptions, cookieHeader, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { inspectDatabase } from '../deployments/check/queries.ts'
import { endDuePreviews } from './previews/due.ts'

/** contract 16 §2, by a clock that the tests move. */
let app: TestApp
let site: Seeded
let contributor = ''
let viewer = ''
let key = ''

beforeAll(async () => {
  app = await testApp()
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'live' },
  })
  contributor = await seedMember(app, site.projectId, 'contributor')
  viewer = await seedMember(app, site.projectId, 'viewer')
  key = seedKey(app, site.projectId)
})
afterAll(() => {
  expect([...inspectDatabase(app.ctx.db)]).toEqual([])
  app.close()
})

type Alias = {
  id: string
  name: string
  expiresAt: string | null
  deploymentId: string
  isPreview: boolean
  pullRequest: unknown
  [field: string]: unknown
}

/** Signed in anew: the tests let more time pass than a session lasts. */
async function as(email: string): Promise<CallOptions> {
  const json = { email, password: PASSWORD }
  return { headers: { cookie: cookieHeader(await app.call('POST', '/api/auth/signin', { json })) } }
}
const admin = async (method: string, path: string, json?: unknown) =>
  ask(app, method, path, { ...(await as(SEED_OWNER)), json })
const publish = (fields: Record<string, string>, page?: string) => publishForm(app, key, fields, page)
const published = async (fields: Record<string, string>, page?: string): Promise<Alias> => {
  const { status, body } = await publish(fields, page)
  expect([status, body['message']]).toEqual([201, undefined])
  return body['alias'] as Alias
}
const in_ = (ms: number): string => isoTime(app.ctx.now() + ms)
const hostOf = (name: string): string => `${name}--docs--acme.localhost`
const statusAt = async (name: string): Promise<number> =>
  (await app.call('GET', '/', { host: hostOf(name) })).status
const patch = (id: string, json: unknown, options: CallOptions = { key }) =>
  ask(app, 'PATCH', `/api/aliases/${id}`, { ...options, json })
const previewsPath = (name = ''): string => `/api/projects/${site.projectId}/previews${name && `/${name}`}`
const previews = async (): Promise<Alias[]> =>
  (await ask(app, 'GET', previewsPath(), await as(viewer))).body['previews'] as Alias[]
const end = (name: string, options: CallOptions = { key }) => ask(app, 'DELETE', previewsPath(name), options)
const auditOf = (action: string) =>
  app.ctx.db.sqlite
    .query<{ actor_kind: string; target_name: string; after: string }, [string]>(
      'SELECT actor_kind, target_name, after FROM audit_log WHERE action = ? ORDER BY at DESC, id DESC',
    )
    .all(action)

describe('publishing', () => {
  test('the field preview makes an alias with an end', async () => {
    const { body } = await publish({
      preview: 'pr-12',
      expiresIn: '2d',
      pullRequest: '12',
      pullRequestUrl: 'https://git.example/acme/docs/pull/12',
    })
    expect(body).toMatchObject({
      published: true,
      alias: {
        name: 'pr-12',
        isPreview: true,
        expiresAt: in_(2 * DAY_MS),
        pullRequest: { number: 12, url: 'https://git.example/acme/docs/pull/12' },
      },
      deployment: { preview: 'pr-12' },
    })
    expect(await statusAt('pr-12')).toBe(200)
  })

  test.each([
    ['1h', HOUR_MS],
    ['36h', 36 * HOUR_MS],
    ['365d', 365 * DAY_MS],
    ['52w', 364 * DAY_MS],
  ])('expiresIn %s', async (expiresIn, ms) => {
    expect(await published({ preview: 'length', expiresIn })).toMatchObject({ expiresAt: in_(ms) })
  })

  test('every publish, by preview or by alias, begins the last time anew; pull request and address stay', async () => {
    await published({ preview: 'again', expiresIn: '3h', pullRequest: '7' })
    app.advance(HOUR_MS)
    const byPreview = await published({ preview: 'AGAIN' })
    expect(byPreview).toMatchObject({ name: 'again', expiresAt: in_(3 * HOUR_MS) })
    app.advance(HOUR_MS)
    const byAlias = await published({ alias: 'again' })
    expect(byAlias).toMatchObject({ expiresAt: in_(3 * HOUR_MS), pullRequest: { number: 7, url: null } })
    const [listed] = (await previews()).filter(({ name }) => name === 'again')
    expect(listed).toMatchObject({ deployments: 3, lastPublishedAt: in_(0) })
  })

  test('a publish that changes nothing begins it anew, too', async () => {
    const commitSha = nextSha()
    await published({ preview: 'same', commitSha })
    app.advance(HOUR_MS)
    expect(await published({ preview: 'same', commitSha })).toMatchObject({ expiresAt: in_(7 * DAY_MS) })
  })

  test('the project says how long by default', async () => {
    const path = `/api/projects/${site.projectId}`
    expect((await admin('GET', path)).body).toMatchObject({ previewDays: 7 })
    expect(await published({ preview: 'usual' })).toMatchObject({ expiresAt: in_(7 * DAY_MS) })
    expect((await admin('PATCH', path, { previewDays: 30 })).body).toMatchObject({ previewDays: 30 })
    expect(await published({ preview: 'usual-too' })).toMatchObject({ expiresAt: in_(30 * DAY_MS) })
    for (const previewDays of [0, 366, 1.5, 'x', null])
      expect([previewDays, (await admin('PATCH', path, { previewDays })).status]).toEqual([previewDays, 400])
    expect((await ask(app, 'PATCH', path, { key, json: { previewDays: 9 } })).status).toBe(403)
    await admin('PATCH', path, { previewDays: 7 })
  })

  const bad: [why: string, fields: Record<string, string>, field: string][] = [
    ['both', { alias: 'x', preview: 'y' }, 'preview'],
    ['production', { preview: 'production' }, 'preview'],
    ['production in another case', { preview: 'Production' }, 'preview'],
    ['a SHA', { preview: 'abcdef1' }, 'preview'],
    ['65 characters', { preview: 'x'.repeat(65) }, 'preview'],
    ['dots', { preview: '..' }, 'preview'],
    ...[
      '0',
      '0h',
      '-1d',
      '366d',
      '53w',
      '8761h',
      '1e9',
      '7',
      'd',
      '1.5d',
      '1m',
      '1 d',
      `${'9'.repeat(400)}h`,
    ].map((expiresIn): [string, Record<string, string>, string] => [
      `expiresIn ${expiresIn.slice(0, 9)}`,
      { preview: 'bad', expiresIn },
      'expiresIn',
    ]),
    ...['0', '-1', '1.5', 'x', '1e9'].map((pullRequest): [string, Record<string, string>, string] => [
      `pull request ${pullRequest}`,
      { preview: 'bad', pullRequest },
      'pullRequest',
    ]),
    ['expiresIn alone', { expiresIn: '1d' }, 'expiresIn'],
    ['expiresIn of an alias', { alias: 'staging', expiresIn: '1d' }, 'expiresIn'],
    ['pullRequest of an alias', { alias: 'staging', pullRequest: '1' }, 'pullRequest'],
    ...['javascript:alert(1)', 'ftp://x.example/', '/pull/1', 'https://', 'http://x y'].map(
      (pullRequestUrl): [string, Record<string, string>, string] => [
        pullRequestUrl,
        { preview: 'bad', pullRequest: '1', pullRequestUrl },
        'pullRequestUrl',
      ],
    ),
  ]
  test.each(bad)('400: %s', async (_why, fields, field) => {
    const commitSha = nextSha()
    const { status, body } = await publish({ ...fields, commitSha })
    expect([status, (body['details'] as { path: string }[])[0]?.path]).toEqual([400, field])
    expect((await ask(app, 'GET', `/api/deployments?commitSha=${commitSha}`, { key })).body).toMatchObject({
      data: [],
    })
  })

  test('a name that is an alias without an end is 409, and nothing is kept', async () => {
    await published({ alias: 'staging' })
    const commitSha = nextSha()
    const refused = await publish({ preview: 'Staging', commitSha })
    expect([refused.status, refused.body['error']]).toEqual([409, 'ALIAS_IS_NOT_A_PREVIEW'])
    const manifest = { repository: 'acme/docs', commitSha, preview: 'staging', files: [] as unknown[] }
    manifest.files.push({ path: 'index.html', size: 1, sha256: 'a'.repeat(64) })
    const early = await ask(app, 'POST', '/api/deployments/manifest', { key, json: manifest })
    expect([early.status, early.body['error']]).toEqual([409, 'ALIAS_IS_NOT_A_PREVIEW'])
    expect((await ask(app, 'GET', `/api/deployments?commitSha=${commitSha}`, { key })).body).toMatchObject({
      data: [],
    })
  })
})

describe('every route that publishes takes the fields', () => {
  const fields = { repository: 'acme/docs', expiresIn: '2h', pullRequest: '3' }
  const query = (preview: string) =>
    new URLSearchParams({ ...fields, preview, commitSha: nextSha() }).toString()
  const packed = () => new Uint8Array(zip({ 'index.html': 'zip' }))
  const found = async (name: string): Promise<void> => {
    const list = (await ask(app, 'GET', `/api/aliases?name=${name}`, { key })).body['data'] as Alias[]
    expect(list[0]).toMatchObject({
      isPreview: true,
      expiresAt: in_(2 * HOUR_MS),
      pullRequest: { number: 3 },
    })
  }

  test('a raw archive', async () => {
    const headers = { 'content-type': 'application/zip' }
    const path = `/api/deployments?${query('raw-zip')}`
    expect((await ask(app, 'POST', path, { key, body: packed(), headers })).status).toBe(201)
    await found('raw-zip')
  })

  test.each([
    ['/api/deployments/zip', 'form-zip', 'x.zip'],
    ['/api/assets/upload', 'assets', 'index.html'],
  ])('%s', async (path, preview, file) => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ ...fields, preview, commitSha: nextSha() }))
      body.append(name, value)
    body.append('file', new File([file.endsWith('.zip') ? packed() : 'x'], file))
    expect((await app.call('POST', path, { key, body })).ok).toBe(true)
    await found(preview)
  })

  test('a manifest, with a number as number', async () => {
    const sha256 = new Bun.CryptoHasher('sha256').update(`live`).digest('hex')
    const json = {
      ...fields,
      pullRequest: 3,
      preview: 'delta',
      commitSha: nextSha(),
      files: [{ path: 'index.html', size: 4, sha256 }],
    }
    const begun = await ask(app, 'POST', '/api/deployments/manifest', { key, json })
    expect(begun).toMatchObject({ status: 201, body: { missing: [] } })
    const put = await ask(app, 'PUT', `/api/deployments/manifest/${begun.body['uploadId']}`, { key })
    expect(put.body).toMatchObject({
      alias: { name: 'delta', isPreview: true },
      deployment: { preview: 'delta' },
    })
    await found('delta')
  })
})

describe('from its end on it is gone, without any sweep', () => {
  test('on its host, in the path form, in the API; and its name is free', async () => {
    const alias = await published({ preview: 'gone', expiresIn: '1h' })
    const path = '/repo/acme/docs/alias/gone/'
    // Asked before, so that its addresses are known.
    for (let i = 0; i < 2; i++) expect(await statusAt('gone')).toBe(200)
    expect((await app.call('GET', path)).status).toBe(200)
    app.advance(HOUR_MS - 1)
    expect([await statusAt('gone'), (await app.call('GET', path)).status]).toEqual([200, 200])
    app.advance(1)
    expect([await statusAt('gone'), (await app.call('GET', path)).status]).toEqual([404, 404])
    expect(await statusAt('production')).toBe(200)
    // Nothing of the API was asked until now.
    expect(app.ctx.db.sqlite.query('SELECT 1 FROM aliases WHERE name = ?').get('gone')).not.toBeNull()
    for (const get of [`/api/aliases/${alias.id}/history`, `/api/deployments/${alias.deploymentId}`])
      expect((await ask(app, 'GET', get, { key })).status).toBe(404)
    expect((await ask(app, 'GET', '/api/aliases?name=gone', { key })).body['data']).toEqual([])
    expect((await patch(alias.id, { expiresAt: in_(DAY_MS) }, await as(contributor))).status).toBe(404)
    expect((await end('gone')).status).toBe(404)
    const made = await ask(app, 'POST', '/api/aliases', {
      key,
      json: { projectId: site.projectId, name: 'gone', deploymentId: site.deploymentId },
    })
    expect(made).toMatchObject({ status: 201, body: { isPreview: false, expiresAt: null } })
    expect(await statusAt('gone')).toBe(200)
  })

  test('its known address leads nowhere when nothing but time passes', async () => {
    await published({ preview: 'quiet', expiresIn: '1h' })
    expect(await statusAt('quiet')).toBe(200)
    const known = () =>
      serveKnownUrl(
        app.ctx,
        new Request(`http://${hostOf('quiet')}/`, { headers: { host: hostOf('quiet') } }),
      )
    expect(known()?.status).toBe(200)
    app.advance(HOUR_MS)
    expect(known()).toBeUndefined()
    for (let i = 0; i < 3; i++) expect(await statusAt('quiet')).toBe(404)
  })

  test('a publish begins another preview of the name', async () => {
    const before = await published({ preview: 'reborn', expiresIn: '1h' })
    app.advance(HOUR_MS)
    const after = await published({ preview: 'reborn' })
    expect(after.id).not.toBe(before.id)
    expect(await statusAt('reborn')).toBe(200)
  })

  test('the sweep ends it, as svc itself', async () => {
    const alias = await published({ preview: 'swept', expiresIn: '1h' })
    app.advance(HOUR_MS)
    await endDuePreviews(app.ctx)
    const [row] = auditOf('preview.end')
    expect(row).toMatchObject({ actor_kind: 'operator', target_name: 'swept' })
    expect(JSON.parse(row?.after ?? '')).toMatchObject({
      reason: 'expired',
      deployments: [{ id: alias.deploymentId }],
    })
    expect(app.ctx.db.sqlite.query('SELECT 1 FROM host_labels WHERE label LIKE ?').get('swept--%')).toBeNull()
  })

  test('a locked preview is neither moved nor ended by time; unlocked, it goes', async () => {
    const alias = await published({ preview: 'locked', expiresIn: '1h' })
    expect((await patch(alias.id, { isLocked: true }, await as(SEED_OWNER))).status).toBe(200)
    const { body } = await publish({ preview: 'locked' })
    expect(body).toMatchObject({ published: false, alias: { deploymentId: alias.deploymentId } })
    app.advance(2 * HOUR_MS)
    await endDuePreviews(app.ctx)
    expect(await statusAt('locked')).toBe(200)
    expect((await ask(app, 'GET', '/api/aliases?name=locked', { key })).body['data']).toHaveLength(1)
    await patch(alias.id, { isLocked: false }, await as(SEED_OWNER))
    expect(await statusAt('locked')).toBe(404)
    expect((await ask(app, 'GET', '/api/aliases?name=locked', { key })).body['data']).toEqual([])
  })

  test('a download that began before comes whole', async () => {
    const page = 'x'.repeat(3_000_000)
    await published({ preview: 'large', expiresIn: '1h' }, page)
    const answer = await app.call('GET', '/', { host: hostOf('large') })
    app.advance(HOUR_MS)
    await endDuePreviews(app.ctx)
    expect(await answer.text()).toBe(page)
  })
})

describe('PATCH expiresAt', () => {
  test('of a preview: a contributor and a key may move the end, or take it away', async () => {
    const { id } = await published({ preview: 'moved' })
    const expiresAt = in_(40 * DAY_MS)
    expect((await patch(id, { expiresAt }, await as(contributor))).body).toMatchObject({
      expiresAt,
      isPreview: true,
    })
    expect((await patch(id, { expiresAt: null })).body).toMatchObject({ expiresAt: null, isPreview: false })
    app.advance(50 * DAY_MS)
    expect(await statusAt('moved')).toBe(200)
    // An ordinary alias from now on.
    expect((await patch(id, { expiresAt: in_(DAY_MS) })).status).toBe(403)
    expect((await ask(app, 'DELETE', `/api/aliases/${id}`, { key })).status).toBe(403)
    expect((await publish({ preview: 'moved' })).body['error']).toBe('ALIAS_IS_NOT_A_PREVIEW')
  })

  test('of another alias: an admin may', async () => {
    const { id } = await published({ alias: 'temporary' })
    expect((await patch(id, { expiresAt: in_(HOUR_MS) }, await as(contributor))).status).toBe(403)
    const set = await patch(id, { expiresAt: in_(HOUR_MS) }, await as(SEED_OWNER))
    expect(set.body).toMatchObject({ isPreview: true, expiresAt: in_(HOUR_MS) })
    expect((await previews()).find(({ name }) => name === 'temporary')).toMatchObject({ deployments: 0 })
    app.advance(HOUR_MS)
    expect(await statusAt('temporary')).toBe(404)
  })

  test.each([() => in_(-1), () => in_(0), () => '2020-01-01', () => 'tomorrow', () => '', () => 7])(
    '400 for what is no later time',
    async (expiresAt) => {
      const { id } = await published({ preview: 'patched' })
      const refused = await patch(id, { expiresAt: expiresAt() })
      expect([refused.status, (refused.body['details'] as { path: string }[])[0]?.path]).toEqual([
        400,
        'expiresAt',
      ])
    },
  )
})

describe('ending by hand', () => {
  test('the list is in the order of the ends; those who may, and refusals', async () => {
    for (const [preview, expiresIn] of [
      ['late', '9d'],
      ['soon', '2h'],
      ['between', '3h'],
    ] as const)
      await published({ preview, expiresIn })
    const names = (await previews()).map(({ name }) => name)
    expect(names.filter((name) => ['late', 'soon', 'between'].includes(name))).toEqual([
      'soon',
      'between',
      'late',
    ])
    expect((await end('soon', await as(viewer))).status).toBe(403)
    expect((await end('soon', {})).status).toBe(401)
    expect((await end('nothing')).status).toBe(404)
    const noPreview = await end('production')
    expect([noPreview.status, noPreview.body['error']]).toEqual([409, 'ALIAS_IS_NOT_A_PREVIEW'])
    expect((await end('SOON')).status).toBe(204)
    expect((await end('soon')).status).toBe(404)
    expect(await statusAt('soon')).toBe(404)
    const [row] = auditOf('preview.end')
    expect([row?.actor_kind, JSON.parse(row?.after ?? '').reason]).toEqual(['key', 'closed'])
  })

  test('DELETE /api/aliases/:id ends a preview, by whoever may end it', async () => {
    const { id, deploymentId } = await published({ preview: 'by-id' })
    expect((await ask(app, 'DELETE', `/api/aliases/${id}`, await as(viewer))).status).toBe(403)
    expect((await ask(app, 'DELETE', `/api/aliases/${id}`, { key })).status).toBe(204)
    expect((await ask(app, 'GET', `/api/deployments/${deploymentId}`, { key })).status).toBe(404)
  })

  test('one that a domain names is 409; by time it ends all the same, until the domain names another', async () => {
    const { id } = await published({ preview: 'mapped', expiresIn: '1h' })
    const json = { projectId: site.projectId, hostname: 'mapped.localhost', alias: 'mapped' }
    const domain = await admin('POST', '/api/domains', json)
    expect(domain.status).toBe(201)
    for (const refused of [await end('mapped'), await ask(app, 'DELETE', `/api/aliases/${id}`, { key })])
      expect([refused.status, refused.body['error']]).toEqual([409, 'ALIAS_IN_USE'])
    const at = async () => (await app.call('GET', '/', { host: 'mapped.localhost' })).status
    expect(await at()).toBe(200)
    app.advance(HOUR_MS)
    expect(await at()).toBe(404)
    await endDuePreviews(app.ctx)
    expect(await at()).toBe(404)
    await admin('PATCH', `/api/domains/${domain.body['id']}`, { alias: 'production' })
    expect(await at()).toBe(200)
  })

  test('a split goes on without a variant whose time is over', async () => {
    await published({ preview: 'variant', expiresIn: '1h' }, 'variant')
    const json = { projectId: site.projectId, hostname: 'split.localhost', alias: 'production' }
    const domain = await admin('POST', '/api/domains', json)
    const weights = [
      { alias: 'variant', weight: 100 },
      { alias: 'production', weight: 0 },
    ]
    await admin('PUT', `/api/domains/${domain.body['id']}/traffic`, { weights })
    const shown = async () => (await app.call('GET', '/', { host: 'split.localhost' })).text()
    expect(await shown()).toBe('variant')
    expect((await end('variant')).body['error']).toBe('ALIAS_IN_USE')
    app.advance(HOUR_MS)
    expect(await shown()).toBe('live')
  })
})

describe('what ends with it', () => {
  const exists = async (id: string): Promise<boolean> =>
    (await ask(app, 'GET', `/api/deployments/${id}`, { key })).status === 200
  const pointAt = async (name: string, deploymentId: string): Promise<string> => {
    const json = { projectId: site.projectId, name, deploymentId }
    return String((await ask(app, 'POST', '/api/aliases', { key, json })).body['id'])
  }

  test('its deployments, but none that another alias shows or ever showed', async () => {
    const ids: string[] = []
    for (let i = 0; i < 4; i++) ids.push((await published({ preview: 'many' })).deploymentId)
    const [shownNow = '', shownOnce = '', shownByNobody = '', shownByDeleted = ''] = ids
    await pointAt('keeps', shownNow)
    const past = await pointAt('past', shownOnce)
    await patch(past, { deploymentId: site.deploymentId })
    const removed = await pointAt('removed', shownByDeleted)
    await admin('DELETE', `/api/aliases/${removed}`)
    await patch((await previews()).find(({ name }) => name === 'many')?.id ?? '', {
      deploymentId: site.deploymentId,
    })
    expect((await end('many')).status).toBe(204)
    expect(await Promise.all([shownNow, shownOnce, shownByNobody, shownByDeleted].map(exists))).toEqual([
      true,
      true,
      false,
      true,
    ])
    // It was moved there, but this was never published as the preview.
    expect(await exists(site.deploymentId)).toBe(true)
  })

  test('two previews of one commit: with the first only its alias goes', async () => {
    const commitSha = nextSha()
    const { deploymentId } = await published({ preview: 'twin-a', commitSha })
    await published({ preview: 'twin-b', commitSha })
    await end('twin-a')
    expect([await exists(deploymentId), await statusAt('twin-b')]).toEqual([true, 200])
    await end('twin-b')
    expect(await exists(deploymentId)).toBe(false)
  })

  test('its rules, and the preview copies of rule sets that no other alias has', async () => {
    const push = (name: string) =>
      ask(app, 'PUT', `/api/proxy-rule-sets/project/${site.projectId}/sync`, {
        key,
        json: { ruleSet: { name }, rules: [] },
      })
    for (const name of ['forms', 'forms-pr-1', 'forms-pr-2']) expect((await push(name)).status).toBe(200)
    const { id } = await published({ preview: 'ruled', proxyRuleSetName: 'forms,forms-pr-1,forms-pr-2' })
    await published({ preview: 'ruled-too', proxyRuleSetName: 'forms-pr-2' })
    const rule = { pathPattern: '/x', proxyType: 'internal_rewrite', targetUrl: '/index.html' }
    expect((await ask(app, 'POST', `/api/proxy-rules/alias/${id}`, { key, json: rule })).status).toBe(201)
    expect((await end('ruled')).status).toBe(204)
    const { body } = await ask(app, 'GET', `/api/proxy-rule-sets/project/${site.projectId}`, { key })
    const names = (body['ruleSets'] as { name: string }[]).map(({ name }) => name)
    expect(names.sort()).toEqual(['forms', 'forms-pr-2'])
    expect(app.ctx.db.sqlite.query('SELECT 1 FROM proxy_rules WHERE alias_id = ?').get(id)).toBeNull()
  })

  test('two pushes and a close at once leave whole things', async () => {
    for (let round = 0; round < 5; round++) {
      await published({ preview: 'busy' })
      const answers = await Promise.all([
        publish({ preview: 'busy' }),
        end('busy'),
        publish({ preview: 'busy' }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([201, 204, 201])
      expect([...inspectDatabase(app.ctx.db)]).toEqual([])
    }
  })
})

test('explain names the end of a preview', async () => {
  const { expiresAt } = await published({ preview: 'explained' })
  for (const url of [`http://${hostOf('explained')}/`, 'http://localhost/repo/acme/docs/alias/explained/']) {
    const { body } = await ask(app, 'GET', `/api/explain?url=${encodeURIComponent(url)}`, { key })
    const [host] = body['steps'] as { text: string; detail: unknown }[]
    expect(host?.text).toContain(`the preview explained; it ends at ${expiresAt}`)
    expect(host?.detail).toEqual({ expiresAt })
  }
})

test('svc_previews counts those that have not ended', async () => {
  const counted = async () =>
    Number(/^svc_previews (\d+)$/m.exec(await (await app.call('GET', '/metrics')).text())?.[1])
  const before = await counted()
  await published({ preview: 'counted', expiresIn: '1h' })
  expect(await counted()).toBe(before + 1)
  app.advance(HOUR_MS + MINUTE_MS)
  expect(await counted()).toBeLessThan(before + 1)
})
