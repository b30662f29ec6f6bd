import { isRecent } from '../domain/recent.ts'

/** A caller's requests since `startedAt`. */
export type Window = { startedAt: number; count: number }

/** By caller, the oldest first. `oldest` goes on where it was: a new look would pass all that were dropped before. */
type Own = { byCaller: Map<string, Window>; oldest: Iterator<string> }

/** Of a project; above it the project's own oldest goes first. contract 12.11. */
const MAX_OF_PROJECT = 10_000
const MAX_IN_ALL = 200_000

/**
 * The windows of all rate limits, in memory. Each project has its own, so that a flood of addresses on one site does not
 * reset the limits of another: one that has less than its share of the whole never loses any to others.
 */
export class RateWindows {
  readonly #ofProject: number
  readonly #inAll: number
  readonly #windows = new Map<string, Own>()
  /** The projects that have so many windows. */
  readonly #bySize = new Map<number, Set<string>>()
  #largest = 0
  #total = 0

  constructor({ ofProject = MAX_OF_PROJECT, inAll = MAX_IN_ALL } = {}) {
    this.#ofProject = ofProject
    this.#inAll = inAll
  }

  /** The caller's current window; a new one, with a count of 0, if there is none. */
  at(projectId: string, key: string, now: number, windowMs: number): Window {
    const known = this.#windows.get(projectId)?.byCaller.get(key)
    if (known !== undefined && isRecent(known.startedAt, now, windowMs)) return known
    if (known !== undefined) this.#drop(projectId, key)
    return this.#add(projectId, key, { startedAt: now, count: 0 })
  }

  /** How many windows the project has; without a project, how many there are. */
  count(projectId?: string): number {
    return projectId === undefined ? this.#total : (this.#windows.get(projectId)?.byCaller.size ?? 0)
  }

  #add(projectId: string, key: string, window: Window): Window {
    if (this.count(projectId) >= this.#ofProject) this.#dropOldest(projectId)
    else if (this.#total >= this.#inAll) this.#dropOldest(this.#biggest(projectId))
    const { byCaller } = this.#ownOf(projectId)
    byCaller.set(key, window)
    this.#resized(projectId, byCaller.size - 1, byCaller.size)
    return window
  }

  #ownOf(projectId: string): Own {
    const known = this.#windows.get(projectId)
    if (known !== undefined) return known
    const byCaller = new Map<string, Window>()
    const own = { byCaller, oldest: byCaller.keys() }
    this.#windows.set(projectId, own)
    return own
  }

  /** The project itself if it is among those with the most windows. They have at least their share. */
  #biggest(projectId: string): string {
    const candidates = this.#bySize.get(this.#largest)
    if (candidates === undefined || candidates.has(projectId)) return projectId
    return candidates.values().next().value ?? projectId
  }

  #dropOldest(projectId: string): void {
    const oldest = this.#windows.get(projectId)?.oldest.next()
    if (oldest?.done === false) this.#drop(projectId, oldest.value)
  }

  #drop(projectId: string, key: string): void {
    const byCaller = this.#windows.get(projectId)?.byCaller
    if (byCaller?.delete(key) !== true) return
    if (byCaller.size === 0) this.#windows.delete(projectId)
    this.#resized(projectId, byCaller.size + 1, byCaller.size)
  }

  #resized(projectId: string, before: number, after: number): void {
    this.#total += after - before
    const left = this.#bySize.get(before)
    left?.delete(projectId)
    if (left?.size === 0) this.#bySize.delete(before)
    if (after > 0) this.#bySize.set(after, (this.#bySize.get(after) ?? new Set()).add(projectId))
    this.#largest = Math.max(this.#largest, after)
    while (this.#largest > 0 && !this.#bySize.has(this.#largest)) this.#largest -= 1
  }
}
