import { fieldError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import type { Failed } from '../frame/project-request.ts'
import { MAX_WEIGHTS } from './traffic-form.ts'
import type { TrafficPageProps } from './traffic-props.ts'

type WeightRow = { alias: string; weight: number }

/** The number of aliases offered at first, so that there is something to split. */
const MAX_OFFERED = 4

/** The stored shares. A domain without a split gives its own alias 100 and offers a few others at 0. */
export function weightRows({ split, domain, aliasNames }: TrafficPageProps): WeightRow[] {
  if (split !== undefined) return split.weights
  const others = aliasNames.filter((name) => name !== domain.alias).slice(0, MAX_OFFERED - 1)
  return [{ alias: domain.alias, weight: 100 }, ...others.map((alias) => ({ alias, weight: 0 }))]
}

/**
 * `alias-0` with `weight-0` and so on. They are plain numbers; an island adds sliders that balance each other
 * (islands/traffic-weights.js, `data-weight`).
 */
export function weightFields(props: TrafficPageProps, failed: Failed | undefined): Html {
  const rows = weightRows(props)
  const left = props.aliasNames.filter((name) => !rows.some(({ alias }) => alias === name))
  return html`
    <ul class="stack" aria-describedby="weights-hint">
      ${rows.map((row, at) => weightRow(row, at, props, failed))}
      ${left.length > 0 && rows.length < MAX_WEIGHTS && anotherRow(left, rows.length, failed)}
    </ul>
    <p class="hint" id="weights-hint">
      <strong data-total>The shares must add up to 100.</strong> An alias without a number is removed.
    </p>
  `
}

function weightRow(
  { alias, weight }: WeightRow,
  at: number,
  { aliasNames }: TrafficPageProps,
  failed: Failed | undefined,
): Html {
  const isGone = !aliasNames.includes(alias)
  return html`
    <li class="weight" data-weight>
      <label for=${`weight-${at}`}>${alias}${isGone && html` <span class="optional">gone</span>`}</label>
      ${hidden(`alias-${at}`, alias)} ${weightInput(at, failed?.values[`weight-${at}`] ?? String(weight), failed)}
    </li>
  `
}

const anotherRow = (names: readonly string[], at: number, failed: Failed | undefined): Html => html`
  <li class="weight" data-weight>
    <select name=${`alias-${at}`} aria-label="Another alias">
      <option value="">Another alias</option>
      ${names.map(
        (name) =>
          html`<option value=${name} selected=${failed?.values[`alias-${at}`] === name}>${name}</option>`,
      )}
    </select>
    <label class="visually-hidden" for=${`weight-${at}`}>Share of the other alias</label>
    ${weightInput(at, failed?.values[`weight-${at}`] ?? '', failed)}
  </li>
`

function weightInput(at: number, value: string, failed: Failed | undefined): Html {
  const error = fieldError(failed?.error, `weight-${at}`)
  const id = `weight-${at}`
  return html`
    <span class="share">
      <input
        id=${id}
        name=${id}
        type="number"
        min="0"
        max="100"
        step="1"
        inputmode="numeric"
        value=${value}
        aria-describedby=${error === undefined ? 'weights-hint' : `${id}-error weights-hint`}
        aria-invalid=${error === undefined ? undefined : 'true'}
      />${' '}%
    </span>
    ${error !== undefined && html`<span class="field-error" id=${`${id}-error`}>${error}</span>`}
  `
}
