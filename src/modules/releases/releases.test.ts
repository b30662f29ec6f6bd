import { describe, expect, test } from 'bun:test'
import { SEED_OWNER } from '../../testing/seed.ts'
import { type Fields, type Files, holdChecks, UPLOADS, upload, withWebSite } from './releases.fixture.ts'

/** Checked releases by all four uploads. contract 13 §8. */
const site = withWebSite({ 'index.html': 'old' }, 'live')
const { call, nextSha } = site

const checks = (text: string) => `startPage: false\nchecks:\n${text}`
const MUST_HAVE_A = checks('  - { name: page a, path: /a.html, contains: hello }\n')
const GOOD: Files = { 'index.html': 'x', 'a.html': 'hello you', '.svc/checks.yaml': MUST_HAVE_A }
const BAD: Files = { 'index.html': 'x', 'b.html': 'b', '.svc/checks.yaml': MUST_HAVE_A }

const publish = (files: Files, fields: Fields = {}, by = upload) =>
  by(site.app, files, { commitSha: nextSha(), alias: site.alias, ...fields })

type AliasNow = { id: string; deploymentId: string; isPreview: boolean }

async function aliasNow(name = site.alias): Promise<AliasNow | undefined> {
  const { body } = await call('GET', `/api/aliases?projectId=${site.seeded.projectId}&name=${name}`)
  return (body['data'] as AliasNow[])[0]
}

const idOf = ({ deploymentId, deployment }: Awaited<ReturnType<typeof upload>>['body']): string =>
  deploymentId ?? deployment?.id ?? ''

describe.each(Object.entries(UPLOADS))('by %s', (kind, by) => {
  test('passed, failed, forced', async () => {
    const good = await publish(GOOD, {}, by)
    expect([good.status, good.body.release, good.body.published]).toEqual([
      201,
      {
        status: 'passed',
        alias: site.alias,
        checks: [{ name: 'page a', path: '/a.html', ok: true, message: null }],
      },
      true,
    ])
    const bad = await publish(BAD, {}, by)
    expect([bad.status, bad.body.release, bad.body.published]).toEqual([
      201,
      {
        status: 'failed',
        alias: site.alias,
        checks: [{ name: 'page a', path: '/a.html', ok: false, message: 'the answer is 404, not 200' }],
      },
      false,
    ])
    expect(await aliasNow()).toMatchObject({ deploymentId: idOf(good.body) })
    expect((await call('GET', `/api/deployments/${idOf(bad.body)}`)).status).toBe(200)
    const forced = await publish(BAD, { force: 'true' }, by)
    expect([forced.status, forced.body.release?.status, forced.body.published]).toEqual([201, 'forced', true])
    expect(await aliasNow()).toMatchObject({ deploymentId: idOf(forced.body) })
    const row = site.app.ctx.db.sqlite
      .query<{ after: string }, []>(
        "SELECT after FROM audit_log WHERE action = 'release.force' ORDER BY rowid DESC",
      )
      .get()
    expect(JSON.parse(row?.after ?? '')).toMatchObject({ failed: ['page a'] })
  })

  test('locked: nothing is checked, nothing moves', async () => {
    const first = await publish({ 'index.html': kind }, {}, by)
    expect(first.body.release).toEqual({ status: 'moved', alias: site.alias, checks: [] })
    await call('PATCH', `/api/aliases/${(await aliasNow())?.id}`, { isLocked: true })
    const second = await publish(GOOD, {}, by)
    expect([second.status, second.body.release, second.body.published]).toEqual([
      201,
      { status: 'locked', alias: site.alias, checks: [] },
      false,
    ])
  })

  test('overtaken: it stays where somebody put it', async () => {
    const first = await publish({ 'index.html': kind }, {}, by)
    const hold = holdChecks(site.app)
    const publishing = publish(GOOD, {}, by)
    await hold.reached
    const id = (await aliasNow())?.id
    expect(
      (await call('PATCH', `/api/aliases/${id}`, { deploymentId: site.seeded.deploymentId })).status,
    ).toBe(200)
    hold.release()
    const { status, body } = await publishing
    expect([status, body.release?.status, body.published]).toEqual([201, 'overtaken', false])
    expect(await aliasNow()).toMatchObject({ deploymentId: site.seeded.deploymentId })
    expect(idOf(first.body)).not.toBe(site.seeded.deploymentId)
  })

  test('a wrong checks file refuses the publish, and nothing is kept', async () => {
    const wrong =
      'startPage: maybe\nchecks:\n  - path: a\n    status: 99\n  - { oath: /, path: / }\nalias: x\n'
    const commitSha = nextSha()
    const answer = await publish({ 'index.html': 'x', '.svc/checks.yaml': wrong }, { commitSha }, by)
    expect([answer.status, answer.body.error]).toEqual([400, 'CHECKS_INVALID'])
    const message = String(answer.body.message)
    for (const place of ['1:12', '3:11', '4:13', '5:7', '6:1'])
      expect(message).toContain(`.svc/checks.yaml:${place} `)
    expect(await aliasNow()).toBeUndefined()
    const rows = site.app.ctx.db.sqlite.query('SELECT 1 FROM deployments WHERE commit_sha = ?').all(commitSha)
    expect(rows).toEqual([])
  })

  test('without an alias nothing is checked; the checks file is no file of the deployment', async () => {
    const commitSha = nextSha()
    const { body } = await by(site.app, BAD, { commitSha })
    expect(body.release).toEqual({ status: 'none', alias: null, checks: [] })
    const paths = site.app.ctx.db.sqlite
      .query<{ path: string }, [string]>('SELECT path FROM assets WHERE deployment_id = ? ORDER BY path')
      .all(idOf(body))
    expect(paths.map(({ path }) => path)).toEqual(['b.html', 'index.html'])
    const host = `${commitSha.slice(0, 12)}--web--acme.localhost`
    expect((await site.app.call('GET', '/.svc/checks.yaml', { host, as: SEED_OWNER })).status).not.toBe(200)
  })

  test('the same upload again checks again', async () => {
    const commitSha = nextSha()
    const first = await publish(BAD, { commitSha }, by)
    const second = await publish(BAD, { commitSha }, by)
    expect([first.body.release?.status, second.body.release?.status]).toEqual(['failed', 'failed'])
    expect(idOf(second.body)).toBe(idOf(first.body))
    const mended = await publish({ 'a.html': 'hello' }, { commitSha, append: 'true' }, by)
    expect([mended.body.release?.status, mended.body.version]).toEqual(['passed', mended.body.version])
    const there = await publish({ 'a.html': 'hello' }, { commitSha, append: 'true' }, by)
    expect([there.body.release, there.body.published]).toEqual([
      { status: 'moved', alias: site.alias, checks: [] },
      true,
    ])
  })

  test('a preview is checked, too', async () => {
    const fields = { alias: '', preview: `${site.alias}-pr` }
    const held = await publish(BAD, fields, by)
    expect(held.body.release).toMatchObject({ status: 'failed', alias: `${site.alias}-pr` })
    expect(await aliasNow(`${site.alias}-pr`)).toBeUndefined()
    const shown = await publish(GOOD, fields, by)
    expect(shown.body.release).toMatchObject({ status: 'passed' })
    expect(await aliasNow(`${site.alias}-pr`)).toMatchObject({
      isPreview: true,
      deploymentId: idOf(shown.body),
    })
  })
})
