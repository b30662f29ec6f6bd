import type { HtmlHandling } from '../../domain/html-handling.ts'
import type { Located } from './located.ts'

export type Place = { line: number; column: number }

/** What of a file is not carried: its place, its name there, and the reason. */
export type NotCarried = Place & { what: string; why: string }

/** A line of `_redirects`, with the entry that it stands for. */
export type RedirectEntry = Place & { what: string; text: string }

export type HeaderLine = Place & { what: string; name: string; value: string }

/** A block of `_headers`. `isLast`: the last value of a name is the only one there; else they are joined, as here. */
export type HeaderEntry = { path: string; lines: HeaderLine[]; isLast: boolean }

/** Collects what a file becomes. */
export class Outcome {
  readonly redirects: RedirectEntry[] = []
  readonly headers: HeaderEntry[] = []
  readonly settings: { htmlHandling?: HtmlHandling; isSpa?: boolean } = {}
  readonly notCarried: NotCarried[] = []

  leave({ line, column }: Place, what: string, why: string): void {
    this.notCarried.push({ line, column, what, why })
  }

  /** Leaves all entries of an object but those that are `known`. True if there were none. */
  leaveOthers(node: Located, prefix: string, known: readonly string[], why: string): boolean {
    if (node.kind !== 'object') return true
    const others = [...node.entries].filter(([key]) => !known.includes(key))
    for (const [key, value] of others) this.leave(value, prefix === '' ? key : `${prefix}.${key}`, why)
    return others.length === 0
  }
}

/** A part of a line: blanks separate parts, and a control character would end the line. */
export const asToken = (text: string): string =>
  text.replace(/[\s\p{Cc}]/gu, (one) => encodeURIComponent(one))
