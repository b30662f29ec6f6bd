import type { PathChange } from '../../src/modules/deployments/browse.ts'
import { type Html, html } from '../components/html.ts'
import { formatSize } from '../components/size.ts'

type Change = Pick<PathChange, 'kind' | 'path'> & { sizeBytes?: number }
type Changes = { added: number; changed: number; removed: number; paths: readonly Change[] }

const WORDS = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const
const KINDS = ['added', 'changed', 'removed'] as const

/** `3 added, 1 changed, 2 removed`, or that the files are the same. */
export function comparisonSummary(comparison: Changes): string {
  const parts = KINDS.filter((kind) => comparison[kind] > 0).map((kind) => `${comparison[kind]} ${kind}`)
  return parts.length === 0 ? 'The same files' : parts.join(', ')
}

/** The files that differ, by kind. A long list is cut, with the number of files left out. */
export function comparisonList(comparison: Changes): Html | null {
  const total = comparison.added + comparison.changed + comparison.removed
  if (total === 0) return null
  const left = total - comparison.paths.length
  return html`
    <ul class="diff" aria-label="Files that differ">${comparison.paths.map(pathChange)}</ul>
    ${left > 0 && html`<p class="muted">And ${left} more.</p>`}
  `
}

const pathChange = ({ kind, path, sizeBytes }: Change): Html => html`
  <li class=${`diff-${kind}`}>
    <span class="diff-kind">${WORDS[kind]}</span> <code>${path}</code>
    ${sizeBytes !== undefined && html`<span class="muted small">${formatSize(sizeBytes)}</span>`}
  </li>
`
