import type { FileComparisonView } from '../../src/modules/compare/service.ts'
import { type Html, html } from '../components/html.ts'
import { MAX_LINES, type View } from './view.ts'

type Hunk = FileComparisonView['hunks'][number]

/** A line of one side; `isUnended` where no line feed follows. */
type Line = { number: number; text: string; isUnended: boolean }
/** A line that stays has both sides, in the split view also one that takes the place of another. */
type Row = { kind: ' ' | '-' | '+' | '-+'; old: Line | null; now: Line | null }

export const linesOfChange = (hunks: readonly Hunk[]): number =>
  hunks.reduce((sum, { lines }) => sum + lines.length, 0)

/** The lines that changed with three around them, below each other or side by side. */
export function changesTable(hunks: readonly Hunk[], view: View): Html {
  const isSplit = view === 'split'
  return html`
    <table class=${`changes-table ${view}`}>
      <caption class="visually-hidden">Changes</caption>
      ${isSplit && html`<colgroup><col class="line" /><col /><col class="line" /><col /></colgroup>`}
      <thead class="visually-hidden">
        <tr>
          ${isSplit ? SPLIT_HEAD : UNIFIED_HEAD}
        </tr>
      </thead>
      ${firstOf(hunks).map((hunk) => body(hunk, isSplit))}
    </table>
  `
}

const heads = (labels: readonly string[]): Html[] =>
  labels.map((label) => html`<th scope="col">${label}</th>`)
const UNIFIED_HEAD = heads(['Line before', 'Line after', 'Text'])
const SPLIT_HEAD = heads(['Line before', 'Text before', 'Line after', 'Text after'])

function body(hunk: Hunk, isSplit: boolean): Html {
  const rows = rowsOf(hunk)
  return html`
    <tbody>
      <tr class="hunk"><td colspan=${isSplit ? 4 : 3}>${`@@ -${hunk.fromStart},${hunk.fromLines} +${hunk.toStart},${hunk.toLines} @@`}</td></tr>
      ${isSplit ? paired(rows).map(splitRow) : rows.map(unifiedRow)}
    </tbody>
  `
}

function firstOf(hunks: readonly Hunk[]): Hunk[] {
  const first: Hunk[] = []
  let left = MAX_LINES
  for (const hunk of hunks) {
    if (left <= 0) break
    first.push({ ...hunk, lines: hunk.lines.slice(0, left) })
    left -= hunk.lines.length
  }
  return first
}

function rowsOf({ fromStart, toStart, lines }: Hunk): Row[] {
  const rows: Row[] = []
  let [old, now] = [fromStart, toStart]
  for (const line of lines) {
    const mark = line[0]
    const text = line.slice(1)
    const last = rows.at(-1)
    if (mark === '\\') {
      if (last?.old) last.old.isUnended = true
      if (last?.now) last.now.isUnended = true
    } else if (mark === '-') rows.push({ kind: '-', old: lineOf(old++, text), now: null })
    else if (mark === '+') rows.push({ kind: '+', old: null, now: lineOf(now++, text) })
    else rows.push({ kind: ' ', old: lineOf(old++, text), now: lineOf(now++, text) })
  }
  return rows
}

const lineOf = (number: number, text: string): Line => ({ number, text, isUnended: false })

/** Each removed line beside an added one, as far as they go. */
function paired(rows: readonly Row[]): Row[] {
  const result: Row[] = []
  for (let at = 0; at < rows.length; ) {
    const row = rows[at]
    if (row === undefined) break
    if (row.kind === ' ') {
      result.push(row)
      at += 1
      continue
    }
    const block = rows.slice(at, rows.findIndex((one, index) => index >= at && one.kind === ' ') >>> 0)
    const [removed, added] = [
      block.filter(({ kind }) => kind === '-'),
      block.filter(({ kind }) => kind === '+'),
    ]
    for (let pair = 0; pair < Math.max(removed.length, added.length); pair++)
      result.push({ kind: '-+', old: removed[pair]?.old ?? null, now: added[pair]?.now ?? null })
    at += block.length
  }
  return result
}

const unifiedRow = ({ kind, old, now }: Row): Html => html`
  <tr class=${ROW_CLASS[kind]}>
    <td class="line">${old?.number}</td>
    <td class="line">${now?.number}</td>
    <td class="text">${WORD[kind]}${textOf(now ?? old)}</td>
  </tr>
`

const splitRow = ({ kind, old, now }: Row): Html => html`
  <tr>
    <td class="line">${old?.number}</td>
    <td class=${kind !== ' ' && old ? 'text removed' : 'text'}>${kind !== ' ' && old !== null && WORD['-']}${textOf(old)}</td>
    <td class="line">${now?.number}</td>
    <td class=${kind !== ' ' && now ? 'text added' : 'text'}>${kind !== ' ' && now !== null && WORD['+']}${textOf(now)}</td>
  </tr>
`

const ROW_CLASS = { ' ': undefined, '-': 'removed', '+': 'added', '-+': undefined } as const

/** Colour alone says nothing to some. */
const mark = (sign: string, word: string) =>
  html`<span class="mark" aria-hidden="true">${sign}</span><span class="visually-hidden">${word}: </span>`
const WORD = {
  ' ': html`<span class="mark" aria-hidden="true"> </span>`,
  '-': mark('-', 'removed'),
  '+': mark('+', 'added'),
  '-+': null,
} as const

const LONGEST = 2_000

function textOf(line: Line | null): Html | null {
  if (line === null) return null
  const { text, isUnended } = line
  const isCut = text.length > LONGEST
  const shown = (isCut ? text.slice(0, LONGEST) : text).replace(/\r$/, '')
  const notes = [
    isCut && `… ${text.length - LONGEST} more characters`,
    text.endsWith('\r') && 'CR',
    isUnended && 'no newline at the end',
  ].filter((note) => note !== false)
  return html`${shown}${notes.map((note) => html` <span class="muted small">${note}</span>`)}`
}
