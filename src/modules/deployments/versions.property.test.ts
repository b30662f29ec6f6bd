import { expect, test } from 'bun:test'
import { zip } from '../../platform/archive/zip.fixture.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { fieldParts, fileParts, uploadWorld } from './upload/upload.fixture.ts'
import { type Files, Model, type Place, type Version } from './versions-model.fixture.ts'

/**
 * Random publishes, moves, rollbacks, deletions, previews that end and runs of the retention: each address shows what the
 * model says. contract 16 §1 to §3.
 */

const HOUR_MS = 3_600_000
const SHAS = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb']
const ALIASES = ['production', 'next', 'p2']
const PREVIEWS = ['p1', 'p2']
const NAMES = ['production', 'next', 'p1', 'p2']
/** Two previews never end at the same time. */
const LASTS = ['1h', '5h', '30h', null]
const PATHS = ['r.txt', 's.txt', 'a/r.txt', 'a/s.txt', 'b/r.txt']
const BASES = [null, null, '', 'a', 'b']
const ASKED = ['r.txt', 's.txt', 'a/r.txt', 'b/r.txt']

test('each address shows what the model says, after each step', async () => {
  const random = seededRandom(seedOf('versions'))
  const pick = <T>(from: readonly [T, ...T[]] | readonly T[]): T =>
    from[Math.floor(random() * from.length)] as T
  const world = await uploadWorld({
    RATE_LIMIT_UPLOAD: '0',
    RATE_LIMIT_API: '0',
    RETENTION_GRACE_MINUTES: '0',
  })
  const model = new Model()
  const ids = new Map<Version, string>()
  const call = (method: string, path: string, json?: object) =>
    world.send(method, path, { headers: { cookie: world.cookie('ann'), origin: 'http://localhost' }, json })
  const aliasId = async (name: string) => {
    const { body } = await call('GET', `/api/aliases?name=${name}`)
    return (body['data'] as { id: string }[])[0]?.id
  }
  /** When each alias ends. */
  const ends = async () => {
    const { body } = await call('GET', '/api/aliases?limit=100')
    const aliases = body['data'] as { name: string; expiresAt: string | null }[]
    return new Map(aliases.map(({ name, expiresAt }) => [name, expiresAt && Date.parse(expiresAt)]))
  }
  const versionIds = async () => {
    const { body } = await call('GET', '/api/deployments?limit=100')
    return (body['data'] as { id: string }[]).map(({ id }) => id)
  }

  const send = (way: string, fields: Record<string, string>, files: Files) => {
    const sent = way === 'zip' ? fileParts({ 'site.zip': zip(files) }) : fileParts(files)
    const path = { form: '/api/deployments', zip: '/api/deployments/zip' }[way] ?? '/api/assets/upload'
    return world.sendForm(path, world.keys.docs, ...fieldParts(fields), ...sent)
  }
  const someFiles = (): Files => {
    const chosen = PATHS.filter(() => random() < 0.4)
    return Object.fromEntries(
      (chosen.length > 0 ? chosen : ['r.txt']).map((path) => [path, pick(['1', '2'])]),
    )
  }
  const publish = async () => {
    const [sha, base, way, files] = [
      pick(SHAS),
      pick(BASES),
      pick(['form', 'form', 'zip', 'assets']),
      someFiles(),
    ]
    const isAppended = way === 'assets' || random() < 0.4
    const preview = random() < 0.3 ? pick(PREVIEWS) : null
    const alias = preview === null ? pick([...ALIASES, null]) : null
    const lasts = preview === null ? null : pick(LASTS)
    const { status, body } = await send(
      way,
      {
        owner: 'acme',
        repo: 'docs',
        commitSha: sha,
        ...(base === null ? {} : { basePath: `/${base}` }),
        ...(isAppended && way !== 'assets' ? { append: 'true' } : {}),
        ...(alias === null ? {} : { alias }),
        ...(preview === null ? {} : { preview }),
        ...(lasts === null ? {} : { expiresIn: lasts }),
      },
      files,
    )
    if (preview !== null && model.aliases.get(preview)?.end === null) {
      expect([status, body.error]).toEqual([409, 'ALIAS_IS_NOT_A_PREVIEW'])
      return
    }
    expect(status).toBe(201)
    const version = model.publish(sha, files, base, isAppended)
    const name = preview ?? alias
    const isPreview = preview !== null || (model.aliases.get(alias ?? '')?.end ?? null) !== null
    if (name !== null && isPreview)
      model.preview(
        name,
        version,
        world.ctx.now(),
        lasts === null ? null : Number.parseInt(lasts, 10) * HOUR_MS,
      )
    else if (name !== null) model.point(name, version, version.base)
    const made = body['deployment'] as { id: string; version: number } | undefined
    expect(made?.version ?? body['version']).toBe(version.number)
    ids.set(version, made?.id ?? String(body['deploymentId']))
  }
  const move = async () => {
    const [alias, version] = [pick(NAMES), pick([...model.versions])]
    const id = await aliasId(alias)
    if (id === undefined || version === undefined) return
    const target = random() < 0.5 ? version : (model.newest(version.sha) ?? version)
    const json = target === version ? { deploymentId: ids.get(version) } : { commitSha: version.sha }
    expect((await call('PATCH', `/api/aliases/${id}`, json)).status).toBe(200)
    model.point(alias, target, model.formerBase(alias, target))
  }
  const rollBack = async () => {
    const alias = pick(NAMES)
    const id = await aliasId(alias)
    if (id === undefined) return
    const to = random() < 0.3 ? pick([...model.versions]) : undefined
    const way = model.wayBack(alias, to)
    const json = to === undefined ? {} : { to: ids.get(to) }
    const { status, body } = await call('POST', `/api/aliases/${id}/rollback`, json)
    expect([status, body.error]).toEqual(
      way === undefined ? [409, 'NOTHING_TO_ROLL_BACK_TO'] : [200, undefined],
    )
    if (way !== undefined) model.point(alias, way.version, way.base)
  }
  const remove = async () => {
    const version = pick([...model.versions])
    if (version === undefined) return
    const { status } = await call('DELETE', `/api/deployments/${ids.get(version)}`)
    expect(status).toBe(model.isShown(version) ? 409 : 204)
    if (status === 204) model.versions.delete(version)
  }
  const removeAlias = async () => {
    const alias = pick(NAMES)
    const id = await aliasId(alias)
    expect(id !== undefined).toBe(model.aliases.has(alias))
    if (id === undefined) return
    expect((await call('DELETE', `/api/aliases/${id}`)).status).toBe(204)
    model.end(alias)
  }
  const endPreview = async () => {
    const name = pick(NAMES)
    const { status } = await call('DELETE', `/api/projects/${world.docsId}/previews/${name}`)
    const alias = model.aliases.get(name)
    expect(status).toBe(alias === undefined ? 404 : alias.end === null ? 409 : 204)
    if (status === 204) model.end(name)
  }
  const wait = async () => world.advance(pick([1, 4, 20]) * HOUR_MS)
  const retain = async () => {
    const keepLast = pick([1, 2, 4])
    const path = `/api/projects/${world.docsId}/retention`
    expect((await call('PUT', path, { keepLast })).status).toBe(200)
    const { body } = await call('POST', `${path}/run`, { dryRun: false })
    const gone = model.retain(keepLast).map((version) => String(ids.get(version)))
    expect((body['removed'] as { id: string }[]).map(({ id }) => id).sort()).toEqual(gone.sort())
  }

  const shows = async (label: string, place: Place | undefined) => {
    const host = `${label}--docs--acme.localhost`
    for (const path of ASKED) {
      const answer = await world.call('GET', `/${path}`, { host, key: world.keys.docs })
      const { base = '', version } = place ?? {}
      const content = version?.files[base === '' ? path : `${base}/${path}`]
      const shown = answer.status === 200 ? await answer.text() : undefined
      expect([label, path, shown]).toEqual([label, path, content])
    }
  }
  const expectAsModel = async () => {
    for (const alias of NAMES) await shows(alias, model.shown(alias))
    expect(await ends()).toEqual(new Map([...model.aliases].map(([name, { end }]) => [name, end])))
    // What was published as a preview goes with it at the first request of the API, or within a minute.
    expect((await versionIds()).sort()).toEqual([...model.versions].map((one) => String(ids.get(one))).sort())
    for (const sha of SHAS) {
      const version = model.newest(sha)
      await shows(sha, version && { version, base: version.base })
    }
    const version = pick([...model.versions])
    if (version !== undefined)
      await shows(`${version.sha}-v${version.number}`, { version, base: version.base })
  }
  try {
    const steps = [publish, publish, publish, publish, move, move, rollBack, rollBack]
    const rare = [remove, removeAlias, endPreview, wait, wait, retain]
    for (let step = 0; step < rounds(120, 2000); step++) {
      world.advance(1000)
      model.endDue(world.ctx.now())
      await pick(random() < 0.7 ? steps : rare)()
      model.endDue(world.ctx.now())
      await expectAsModel()
    }
  } finally {
    await world.close()
  }
}, 300_000)
