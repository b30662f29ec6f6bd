import { HOUR_MS, MOST_ALIASES_A_WEEK, MOST_ALIASES_AN_HOUR, MOST_NEW_AN_HOUR, WEEK_MS } from './timing.ts'

export type FirstTry = { at: number; isAlias: boolean }

/** How many new hosts are asked for, as authorities count them. Deleting one does not win its place back. */
export class NewHostLimit {
  #tries: FirstTry[]

  constructor(tries: readonly FirstTry[]) {
    this.#tries = [...tries]
  }

  note(one: FirstTry): void {
    this.#tries = this.#tries.filter(({ at }) => at > one.at - WEEK_MS)
    this.#tries.push(one)
  }

  mayAsk(now: number): boolean {
    return this.#since(now - HOUR_MS).length < MOST_NEW_AN_HOUR
  }

  /** For the host of an alias. Half of the places are kept for those that somebody comes to. */
  mayAskForAlias(now: number, { isVisited }: { isVisited: boolean }): boolean {
    const share = isVisited ? 1 : 0.5
    const ofWeek = this.#since(now - WEEK_MS).filter(({ isAlias }) => isAlias)
    const ofHour = ofWeek.filter(({ at }) => at > now - HOUR_MS)
    return ofWeek.length < MOST_ALIASES_A_WEEK * share && ofHour.length < MOST_ALIASES_AN_HOUR * share
  }

  #since(from: number): FirstTry[] {
    return this.#tries.filter(({ at }) => at > from)
  }
}
