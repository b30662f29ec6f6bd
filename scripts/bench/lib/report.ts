import { median } from './stats.ts'

/** One line of the report. `samples` holds one figure a round; shown are the median and the spread. */
export type Line = {
  name: string
  /** What the figure is: `svc/nginx` for a ratio, `MB` for a size. */
  measure: string
  samples: readonly number[]
  bar?: Bar
  detail?: string
}

/** What the figure has to reach; `aim` is what we would like. */
export type Bar = { atLeast: number; aim?: number } | { atMost: number; aim?: number }

const COLUMNS = ['', 'figure', 'median', 'min..max', 'bar', 'aim', '', ''] as const

export function isHeld(line: Line): boolean | undefined {
  if (line.bar === undefined) return undefined
  const figure = median(line.samples)
  return 'atLeast' in line.bar ? figure >= line.bar.atLeast : figure <= line.bar.atMost
}

export function printLines(title: string, lines: readonly Line[]): void {
  const rows = [[title, ...COLUMNS.slice(1)], ...lines.map(cells)]
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const text = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  console.log(`\n${text.join('\n')}`)
}

function cells(line: Line): string[] {
  const { name, measure, samples, bar } = line
  const held = isHeld(line)
  return [
    name,
    measure,
    figure(median(samples)),
    samples.length > 1 ? `${figure(Math.min(...samples))}..${figure(Math.max(...samples))}` : '',
    bar === undefined ? '' : 'atLeast' in bar ? `>= ${figure(bar.atLeast)}` : `<= ${figure(bar.atMost)}`,
    bar?.aim === undefined ? '' : figure(bar.aim),
    held === undefined ? '' : held ? 'held' : 'MISSED',
    line.detail ?? '',
  ]
}

function figure(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return value.toFixed(value < 100 ? 2 : 0)
}
