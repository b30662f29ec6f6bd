import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { plainPath } from '../../domain/plain-path.ts'
import type { Observed } from './row.ts'

/** The start of the hour or day (UTC) that contains a time. */
export const startOf = (at: number, ms: number): number => Math.floor(at / ms) * ms

/** The things that are counted by name. */
export type DayKind = 'page' | 'referrer' | 'status' | 'missing' | 'bot'

/** What pages, missing paths and failures are counted by. contract 17.7. */
export const canonicalPathOf = ({ canonicalPath, path }: Observed): string =>
  (canonicalPath ?? plainPath(path)).slice(0, MAX_NAME)
const MAX_NAME = 2000

type HourSums = {
  projectId: string
  hour: number
  requests: number
  bots: number
  bytes: number
  views: number
  visitors: number
  notFound: number
  errors: number
}
type LinkCount = [projectId: string, day: number, path: string, from: string, count: number]
type NameCount = [projectId: string, day: number, kind: DayKind, name: string, count: number]

/**
 * Adds up a batch, so that the database is updated once for each hour and name in it. Views, visitors, pages, referrers
 * and missing pages count people only; the rest counts everybody.
 */
export class BatchSums {
  readonly #hours = new Map<string, HourSums>()
  readonly #names = new Map<string, NameCount>()
  readonly #links = new Map<string, LinkCount>()

  add(row: Observed, bot: string | null, isView: boolean, isNewVisitor: boolean): void {
    const { weight, status, referrer } = row
    const sums = this.#hourOf(row.projectId ?? '', startOf(row.at, HOUR_MS))
    sums.requests += weight
    sums.bytes += (row.sizeBytes ?? 0) * weight
    if (bot !== null) sums.bots += weight
    if (isView) sums.views += weight
    if (isNewVisitor) sums.visitors += 1
    if (status === 404) sums.notFound += weight
    if (status >= 500) sums.errors += weight
    this.#count(row, 'status', String(status))
    if (bot !== null) this.#count(row, 'bot', bot)
    else if (status === 404) this.#countMissing(row)
    if (isView) this.#count(row, 'page', canonicalPathOf(row))
    if (isView && referrer !== null) this.#count(row, 'referrer', referrer)
  }

  /** Values in the order of the columns. */
  *hours(): Generator<(string | number)[]> {
    for (const sums of this.#hours.values()) yield Object.values(sums)
  }

  names(): Iterable<NameCount> {
    return this.#names.values()
  }

  /** Who links to missing pages, as far as browsers say. */
  links(): Iterable<LinkCount> {
    return this.#links.values()
  }

  #countMissing(row: Observed): void {
    const path = canonicalPathOf(row)
    this.#count(row, 'missing', path)
    const { linkedFrom, weight, projectId } = row
    if (linkedFrom === null || projectId === null) return
    const day = startOf(row.at, DAY_MS)
    const key = JSON.stringify([day, projectId, path, linkedFrom])
    const known = this.#links.get(key)
    if (known === undefined) this.#links.set(key, [projectId, day, path, linkedFrom, weight])
    else known[4] += weight
  }

  #hourOf(projectId: string, hour: number): HourSums {
    const key = `${hour} ${projectId}`
    const known = this.#hours.get(key)
    if (known !== undefined) return known
    const none = { requests: 0, bots: 0, bytes: 0, views: 0, visitors: 0, notFound: 0, errors: 0 }
    const made = { projectId, hour, ...none }
    this.#hours.set(key, made)
    return made
  }

  #count({ at, projectId, weight }: Observed, kind: DayKind, name: string): void {
    const day = startOf(at, DAY_MS)
    const project = projectId ?? ''
    const key = `${day} ${kind} ${project} ${name}`
    const known = this.#names.get(key)
    if (known === undefined) this.#names.set(key, [project, day, kind, name, weight])
    else known[4] += weight
  }
}
