import { HOUR_MS, WEEK_MS } from '../../domain/durations.ts'
import type { HostRecord } from './host-record.ts'
import { MAX_ALIASES_A_WEEK, MAX_ALIASES_AN_HOUR, MAX_NEW_AN_HOUR, MAX_NEW_OF_PROJECT } from './timing.ts'

/** `projectId` is that of a domain; null for tries before the start of this process. */
type FirstTry = { at: number; isAlias: boolean; projectId: string | null }

/** Limits how many new hosts are asked for, counted as authorities do. Deleting a host does not free its place. */
export class NewHostLimit {
  #tries: FirstTry[]

  constructor(tries: readonly FirstTry[]) {
    this.#tries = [...tries]
  }

  static ofRecords(records: readonly Pick<HostRecord, 'firstTriedAt' | 'isAlias'>[]): NewHostLimit {
    return new NewHostLimit(
      records.flatMap(({ firstTriedAt: at, isAlias }) =>
        at === null ? [] : [{ at, isAlias, projectId: null }],
      ),
    )
  }

  note(one: FirstTry): void {
    this.#tries = this.#tries.filter(({ at }) => at > one.at - WEEK_MS)
    this.#tries.push(one)
  }

  mayAsk(now: number, projectId: string | null): boolean {
    const ofHour = this.#between(now - HOUR_MS, now)
    if (ofHour.length >= MAX_NEW_AN_HOUR) return false
    return (
      projectId === null || ofHour.filter((one) => one.projectId === projectId).length < MAX_NEW_OF_PROJECT
    )
  }

  /** For the host of an alias. Half of the places are reserved for visited hosts. */
  mayAskForAlias(now: number, { isVisited }: { isVisited: boolean }): boolean {
    const share = isVisited ? 1 : 0.5
    const ofWeek = this.#between(now - WEEK_MS, now).filter(({ isAlias }) => isAlias)
    const ofHour = ofWeek.filter(({ at }) => at > now - HOUR_MS)
    return ofWeek.length < MAX_ALIASES_A_WEEK * share && ofHour.length < MAX_ALIASES_AN_HOUR * share
  }

  /** A try in the future was recorded by a clock that has been set back since. */
  #between(from: number, now: number): FirstTry[] {
    return this.#tries.filter(({ at }) => at > from && at <= now)
  }
}
