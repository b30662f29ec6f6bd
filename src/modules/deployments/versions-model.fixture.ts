/** What publishing, moving, ending and cleaning up do, without a server. contract 16 §1 to §3. */

export type Files = Readonly<Record<string, string>>
export type Version = {
  sha: string
  number: number
  files: Files
  base: string
  wasShown: boolean
  preview: string | null
}
export type Place = { version: Version; base: string }
/** `end`: null for an alias that stays. `published`: as this preview. `kept`: of these, what an alias that stays has shown since. */
type Alias = {
  places: Place[]
  end: number | null
  lasts: number | null
  published: Set<Version>
  kept: Set<Version>
}

const HOUR_MS = 3_600_000
export const USUAL_MS = 7 * 24 * HOUR_MS

const newAlias = (end: number | null): Alias => ({
  places: [],
  end,
  lasts: null,
  published: new Set(),
  kept: new Set(),
})

export class Model {
  /** The oldest first. */
  readonly versions = new Set<Version>()
  readonly aliases = new Map<string, Alias>()
  readonly #given = new Map<string, number>()

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
    const version = { sha, number, files: {}, base: '', wasShown: false, preview: null }
    this.versions.add(version)
    return version
  }

  point(name: string, version: Version, base: string): Alias {
    const alias = this.aliases.get(name) ?? newAlias(null)
    this.aliases.set(name, alias)
    const now = alias.places.at(-1)
    version.wasShown = true
    if (now?.version === version && now.base === base) return alias
    alias.places.push({ version, base })
    if (alias.end === null)
      for (const { published, kept } of this.aliases.values()) if (published.has(version)) kept.add(version)
    return alias
  }

  /** Points a preview, whose time begins anew. `lasts`: what this publish says. */
  preview(name: string, version: Version, now: number, lasts: number | null): void {
    const before = this.aliases.get(name) ?? newAlias(0)
    this.aliases.set(name, before)
    before.lasts = lasts ?? before.lasts
    before.end = now + (before.lasts ?? USUAL_MS)
    this.point(name, version, version.base)
    version.preview = name
    before.published.add(version)
  }

  wayBack(name: string, to?: Version): Place | undefined {
    const places = this.aliases.get(name)?.places ?? []
    return places.findLast(
      ({ version }) =>
        version !== places.at(-1)?.version && this.versions.has(version) && (to ?? version) === version,
    )
  }

  formerBase = (name: string, version: Version): string =>
    this.aliases.get(name)?.places.findLast((place) => place.version === version)?.base ?? version.base

  shown = (name: string): Place | undefined => this.aliases.get(name)?.places.at(-1)

  isShown = (version: Version): boolean =>
    [...this.aliases.keys()].some((name) => this.shown(name)?.version === version)

  /** An alias goes, and with a preview what was published as it and no other alias ever showed. */
  end(name: string): void {
    const ended = this.aliases.get(name)
    this.aliases.delete(name)
    const shown = new Set(
      [...this.aliases.values()].flatMap(({ places }) => places.map((one) => one.version)),
    )
    for (const version of ended?.published ?? [])
      if (!shown.has(version) && !ended?.kept.has(version)) this.versions.delete(version)
  }

  endDue(now: number): void {
    const due = [...this.aliases].filter(([, { end }]) => end !== null && end <= now)
    for (const [name] of due.toSorted(([, a], [, b]) => (a.end ?? 0) - (b.end ?? 0))) this.end(name)
  }

  /** Returns what goes when the newest `keepLast` stay that were not published as previews. */
  retain(keepLast: number): Version[] {
    const ordinary = [...this.versions].filter(({ preview }) => preview === null)
    const stays = new Set(ordinary.slice(-keepLast))
    for (const [name, { end, published }] of this.aliases) {
      const [shown, before] = [this.shown(name), this.wayBack(name)]
      if (shown !== undefined) stays.add(shown.version)
      if (end === null && before !== undefined) stays.add(before.version)
      if (end !== null) for (const version of published) stays.add(version)
    }
    const going = [...this.versions].filter((version) => !stays.has(version))
    for (const version of going) this.versions.delete(version)
    return going
  }
}
