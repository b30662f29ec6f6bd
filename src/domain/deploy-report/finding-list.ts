import { FINDING_KINDS, type Finding, type FindingKind, SEVERITIES } from './findings.ts'

const MAX_OF_A_KIND = 100

/** Findings as they are made: the first hundred of each kind, and how many there are of each. */
export class FindingList {
  readonly #kept: Finding[] = []
  readonly #counts = new Map<FindingKind, number>()

  /** Bound, so that it can be handed on as a function. */
  readonly add = (finding: Finding): void => {
    const count = (this.#counts.get(finding.kind) ?? 0) + 1
    this.#counts.set(finding.kind, count)
    if (count <= MAX_OF_A_KIND) this.#kept.push(finding)
  }

  /** The worst first, else in the order in which they were found. */
  get kept(): Finding[] {
    return this.#kept.toSorted((a, b) => rankOf(a) - rankOf(b))
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(this.#counts)
  }
}

const rankOf = ({ kind }: Finding): number => SEVERITIES.indexOf(FINDING_KINDS[kind])
