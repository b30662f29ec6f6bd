import { nameOf } from './rule-name.ts'

type Rule = Parameters<typeof nameOf>[0]

const MAX_LINES = 100
/** Rules that a line names. */
const NAMED = 5
/** More are only counted, so that a hostile push does not fill the memory. */
const MAX_CAUSES = 5000

type Cause = { place: string; message: string; rules: number; named: string[]; last: Rule }

/** The warnings of a push: one line for a cause, however many rules have it. contract 14.1. */
export class Warnings {
  readonly #ofSet: string[] = []
  readonly #causes = new Map<string, Cause>()
  #more = 0

  /** A warning about no rule in particular. */
  add(message: string): void {
    this.#ofSet.push(message)
  }

  /** `place`: where in the rule, such as `steps[0].config.status`. Add those of one rule after each other. */
  addOf(rule: Rule, message: string, place = ''): void {
    const key = `${inAnyStep(place)} ${message}`
    const known = this.#causes.get(key)
    if (known === undefined) {
      const cause = { place, message, rules: 1, named: [shortName(rule)], last: rule }
      if (this.#causes.size < MAX_CAUSES) this.#causes.set(key, cause)
      else this.#more += 1
      return
    }
    if (known.place !== place) known.place = inAnyStep(place)
    if (known.last === rule) return
    known.last = rule
    known.rules += 1
    if (known.named.length < NAMED) known.named.push(shortName(rule))
  }

  lines(): string[] {
    const lines = [...this.#ofSet, ...[...this.#causes.values()].map(lineOf)]
    const count = lines.length + this.#more
    return count <= MAX_LINES
      ? lines
      : [...lines.slice(0, MAX_LINES - 1), `… and ${count - MAX_LINES + 1} more`]
  }
}

function lineOf({ place, message, rules, named }: Cause): string {
  const counted = rules === 1 ? '1 rule' : `${rules} rules`
  return `${place} ${message} (${counted}: ${named.join(', ')}${rules > named.length ? ', …' : ''})`.trimStart()
}

const LONGEST_NAME = 80

function shortName(rule: Rule): string {
  const name = nameOf(rule)
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
}

/** The same place in another step is no other cause. */
const inAnyStep = (text: string): string => text.replaceAll(/\[\d+\]/g, '[…]')
