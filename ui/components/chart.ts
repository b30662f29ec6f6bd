import { type Html, html } from './html.ts'
import { table } from './table.ts'
import { formatTime } from './time.ts'

type ChartPoint = { at: string; value: number }
type ChartProps = {
  /** What the chart counts: "Views". */
  label: string
  points: readonly ChartPoint[]
  /** True if a point is an hour, false if it is a day. */
  isHourly: boolean
  tone?: 1 | 2 | 3 | 4
}

const WIDTH = 720
const HEIGHT = 150

/** A bar per hour or day, as SVG. A table below holds the numbers for people who cannot see the bars. */
export function barChart({ label, points, isHourly, tone = 1 }: ChartProps): Html {
  const most = Math.max(1, ...points.map(({ value }) => value))
  const step = WIDTH / Math.max(1, points.length)
  const nameOf = (at: string) => (isHourly ? formatTime(at) : (formatTime(at).split(',')[0] ?? at))
  const bars = points.map(({ at, value }, index) => {
    const height = (value / most) * (HEIGHT - 4)
    return html`
      <rect x=${round(index * step)} y=${round(HEIGHT - height)} width=${round(Math.max(1, step - 1.5))} height=${round(height)}>
        <title>${`${nameOf(at)}: ${formatCount(value)}`}</title>
      </rect>
    `
  })
  const sum = points.reduce((all, { value }) => all + value, 0)
  const rows = points.filter(({ value }) => value > 0)
  return html`
    <figure class="chart">
      <figcaption><strong>${label}</strong> <span class="muted">at most ${formatCount(most)} ${isHourly ? 'an hour' : 'a day'}</span></figcaption>
      <div class="plot">
        <p class="axis muted small" aria-hidden="true"><span>${formatCount(most)}</span><span>0</span></p>
        <svg
          class=${`chart-${tone}`}
          viewBox=${`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label=${`${label}: ${formatCount(sum)} in all, at most ${formatCount(most)}`}
        >${bars}</svg>
        ${points.length > 1 && html`<p class="ends muted small">${ends(points, nameOf)}</p>`}
      </div>
      ${
        rows.length > 0 &&
        html`
          <details class="more">
            <summary>The numbers</summary>
            ${table<ChartPoint>({
              caption: label,
              rows,
              columns: [
                { label: isHourly ? 'Hour' : 'Day', cell: ({ at }) => nameOf(at) },
                { label, align: 'end', cell: ({ value }) => formatCount(value) },
              ],
            })}
          </details>
        `
      }
    </figure>
  `
}

/** Labels the first and the last bar. */
const ends = (points: readonly ChartPoint[], nameOf: (at: string) => string): Html[] =>
  [points[0], points.at(-1)].flatMap((point) => (point ? [html`<span>${nameOf(point.at)}</span>`] : []))

const round = (value: number): number => Math.round(value * 100) / 100

/** `1 visitor`, `2 visitors`. */
export const countOf = (value: number, one: string, several = `${one}s`): string =>
  `${formatCount(value)} ${value === 1 ? one : several}`

/** Formats `1234567` as `1 234 567`, with non-breaking spaces. */
export const formatCount = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, '\u00a0')
