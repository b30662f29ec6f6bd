import { expect, test } from 'bun:test'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { fieldParts, fileParts, uploadWorld } from './upload/upload.fixture.ts'

/** Random publishes, moves, rollbacks and deletions: each alias shows what a small model says. contract 16 §1. */

type Files = Readonly<Record<string, string>>
type Version = { sha: string; number: number; files: Files; base: string; wasShown: boolean }
type Place = { version: Version; base: string }

class Model {
  readonly versions = new Set<Version>()
  readonly #given = new Map<string, number>()
  readonly aliases = new Map<string, Place[]>()

  newest = (sha: string): Version | undefined =>
    [...this.versions].filter((one) => one.sha === sha).toSorted((a, b) => b.number - a.number)[0]

  publish(sha: string, files: Files, base: string | null, isAppended: boolean): Version {
    const before = this.newest(sha)
    const isKept = ([path]: [string, string]) =>
      isAppended || (base !== null && base !== '' && !path.startsWith(`${base}/`))
    const result = { ...Object.fromEntries(Object.entries(before?.files ?? {}).filter(isKept)), ...files }
    const version =
      before !== undefined && (Bun.deepEquals(result, before.files) || (isAppended && !before.wasShown))
        ? before
        : this.#add(sha)
    version.files = result
    version.base = base ?? (isAppended ? (before?.base ?? '') : '')
    return version
  }

  #add(sha: string): Version {
    const number = (this.#given.get(sha) ?? 0) + 1
    this.#given.set(sha, number)
    const version = { sha, number, files: {}, base: '', wasShown: false }
    this.versions.add(version)
    return version
  }

  point(alias: string, version: Version, base: string): void {
    const places = this.aliases.get(alias) ?? []
    const now = places.at(-1)
    if (now?.version !== version || now.base !== base) places.push({ version, base })
    this.aliases.set(alias, places)
    version.wasShown = true
  }

  wayBack(alias: string, to: Version | undefined): Place | undefined {
    const places = this.aliases.get(alias) ?? []
    return places.findLast(
      ({ version }) =>
        version !== places.at(-1)?.version && this.versions.has(version) && (to ?? version) === version,
    )
  }

  formerBase = (alias: string, version: Version): string =>
    this.aliases.get(alias)?.findLast((place) => place.version === version)?.base ?? version.base

  isShown = (version: Version): boolean =>
    [...this.aliases.values()].some((places) => places.at(-1)?.version === version)
}

const SHAS = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb']
const ALIASES = ['production', 'next', 'old']
const PATHS = ['r.txt', 's.txt', 'a/r.txt', 'a/s.txt', 'b/r.txt']
const BASES = [null, null, '', 'a', 'b']
const ASKED = ['r.txt', 's.txt', 'a/r.txt', 'b/r.txt']

test('each alias shows what the model says, after each step', async () => {
  const random = seededRandom(seedOf('versions'))
  const pick = <T>(from: readonly [T, ...T[]] | readonly T[]): T =>
    from[Math.floor(random() * from.length)] as T
  const world = await uploadWorld({ RATE_LIMIT_UPLOAD: '0', RATE_LIMIT_API: '0' })
  const model = new Model()
  const ids = new Map<Version, string>()
  const cookie = world.cookie('ann')
  const call = (method: string, path: string, json?: object) =>
    world.send(method, path, { headers: { cookie, origin: 'http://localhost' }, json })
  const aliasId = async (name: string) => {
    const { body } = await call('GET', `/api/aliases?name=${name}`)
    return (body['data'] as { id: string }[])[0]?.id
  }

  const publish = async () => {
    const [sha, base, alias] = [pick(SHAS), pick(BASES), pick([...ALIASES, null])]
    const isAssets = random() < 0.2
    const isAppended = isAssets || random() < 0.4
    const chosen = PATHS.filter(() => random() < 0.4)
    const files = Object.fromEntries(
      (chosen.length > 0 ? chosen : ['r.txt']).map((path) => [path, pick(['1', '2'])]),
    )
    const fields = {
      owner: 'acme',
      repo: 'docs',
      commitSha: sha,
      ...(base === null ? {} : { basePath: `/${base}` }),
      ...(isAppended && !isAssets ? { append: 'true' } : {}),
      ...(alias === null ? {} : { alias }),
    }
    const path = isAssets ? '/api/assets/upload' : '/api/deployments'
    const { status, body } = await world.sendForm(
      path,
      world.keys.docs,
      ...fieldParts(fields),
      ...fileParts(files),
    )
    expect(status).toBe(201)
    const version = model.publish(sha, files, base, isAppended)
    if (alias !== null) model.point(alias, version, version.base)
    const made = body['deployment'] as { id: string; version: number } | undefined
    expect(made?.version ?? body['version']).toBe(version.number)
    ids.set(version, made?.id ?? String(body['deploymentId']))
  }
  const move = async () => {
    const [alias, version] = [pick(ALIASES), pick([...model.versions])]
    const id = await aliasId(alias)
    if (id === undefined || version === undefined) return
    const target = random() < 0.5 ? version : (model.newest(version.sha) ?? version)
    const json = target === version ? { deploymentId: ids.get(version) } : { commitSha: version.sha }
    expect((await call('PATCH', `/api/aliases/${id}`, json)).status).toBe(200)
    model.point(alias, target, model.formerBase(alias, target))
  }
  const rollBack = async () => {
    const alias = pick(ALIASES)
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
    const alias = pick(ALIASES)
    const id = await aliasId(alias)
    if (id !== undefined) expect((await call('DELETE', `/api/aliases/${id}`)).status).toBe(204)
    model.aliases.delete(alias)
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
  try {
    const steps = [publish, publish, publish, move, rollBack, remove, removeAlias]
    for (let step = 0; step < rounds(120, 2000); step++) {
      await pick(steps)()
      for (const alias of ALIASES) await shows(alias, model.aliases.get(alias)?.at(-1))
      for (const sha of SHAS) {
        const version = model.newest(sha)
        await shows(sha, version && { version, base: version.base })
      }
      const version = pick([...model.versions])
      if (version !== undefined)
        await shows(`${version.sha}-v${version.number}`, { version, base: version.base })
    }
  } finally {
    await world.close()
  }
}, 300_000)
