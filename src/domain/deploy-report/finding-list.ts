import { oneLine } from '../one-line.ts'
import { FINDING_KINDS, type Finding, type FindingKind, SEVERITIES } from './findings.ts'

const MAX_OF_A_KIND = 100
/** Of a path, an address or a message, which others chose. */
const MAX_TEXT = 1_200

/** Findings as they are made: the first hundred of each kind, and how many there are of each. */
export class FindingList {
  readonly #kept: Finding[] = []
  readonly #added = new Map<FindingKind, number>()
  readonly #counts = new Map<FindingKind, number>()

  /** Bound, so that it can be handed on as a function. */
  readonly add = (finding: Finding): void => {
    const { kind } = finding
    const count = (this.#added.get(kind) ?? 0) + 1
    this.#added.set(kind, count)
    this.countAtLeast(kind, count)
    if (count > MAX_OF_A_KIND) return
    const { file, target, message } = finding
    this.#kept.push({
      ...finding,
      file: shown(file),
      target: shown(target),
      message: oneLine(message, MAX_TEXT),
    })
  }

  /** There are at least so many of a kind, of which not all were added. */
  countAtLeast(kind: FindingKind, count: number): void {
    if (count > 0) this.#counts.set(kind, Math.max(count, this.#counts.get(kind) ?? 0))
  }

  /** The worst first, else in the order in which they were found. */
  get kept(): Finding[] {
    return this.#kept.toSorted((a, b) => rankOf(a) - rankOf(b))
  }

  get counts(): Record<string, number> {
    return Object.fromEntries(this.#counts)
  }
}

const shown = (text: string | null): string | null => (text === null ? null : oneLine(text, MAX_TEXT))

const rankOf = ({ kind }: Finding): number => SEVERITIES.indexOf(FINDING_KINDS[kind])
