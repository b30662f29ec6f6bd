import { compareFileHref, compareHref } from '../compare/compare-href.ts'
import { type Html, html } from '../components/html.ts'
import { formatSize } from '../components/size.ts'

type Kind = 'added' | 'changed' | 'removed' | 'moved'
type Change = { kind: Kind; path: string; size?: number }
type Counts = { added: number; changed: number; removed: number; moved?: number }
type Changes = { counts: Counts; paths: readonly Change[] }

/** Two deployments by number or id; null where one of them is gone. */
type Sides = { projectId: string; from: string; to: string } | null

const WORDS = { added: 'Added', changed: 'Changed', removed: 'Removed', moved: 'Moved' } as const
const KINDS = ['added', 'changed', 'removed', 'moved'] as const

/** `3 added, 1 changed, 2 removed`, or that the files are the same. */
export function comparisonSummary(counts: Counts): string {
  const parts = KINDS.flatMap((kind) => (counts[kind] ? [`${counts[kind]} ${kind}`] : []))
  return parts.length === 0 ? 'The same files' : parts.join(', ')
}

export const kindOfChange = (kind: Kind): Html => html`
  <span class=${`diff-${kind}`}><span class="diff-kind">${WORDS[kind]}</span></span>
`

/** The files that differ, each with a link to what changed in it. A long list is cut, with the number of files left out. */
export function comparisonList({ counts, paths }: Changes, sides: Sides): Html | null {
  const total = KINDS.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0)
  if (total === 0) return null
  const left = total - paths.length
  return html`
    <ul class="diff" aria-label="Files that differ">${paths.map((change) => pathChange(change, sides))}</ul>
    ${left > 0 && html`<p class="muted">And ${left} more.</p>`}
    ${sides && html`<p><a href=${compareHref(sides.projectId, sides)}>Compare all files</a></p>`}
  `
}

const pathChange = ({ kind, path, size }: Change, sides: Sides): Html => html`
  <li class=${`diff-${kind}`}>
    <span class="diff-kind">${WORDS[kind]}</span>
    ${sides === null ? html`<code>${path}</code>` : html`<a href=${compareFileHref(sides.projectId, sides, path)}><code>${path}</code></a>`}
    ${size !== undefined && html`<span class="muted small">${formatSize(size)}</span>`}
  </li>
`
