import type { Context } from '../src/context.ts'
import { AppError } from '../src/domain/errors.ts'
import { trafficBody } from '../src/modules/traffic/model.ts'
import type { TrafficView } from '../src/modules/traffic/service.ts'
import { checkInput, type Form, marked } from './form.ts'

/** As many as a split may name. */
export const MOST_WEIGHTS = 20

/**
 * `alias-0` with `weight-0` and so on; an empty weight takes the alias out. `sticky` and `stickySeconds`. Throws `invalid`
 * naming the field that holds no whole number.
 */
export function readWeights(form: Form): Pick<TrafficView, 'weights' | 'sticky' | 'stickySeconds'> {
  const weights = Array.from({ length: MOST_WEIGHTS + 1 }, (_, at) => at).flatMap((at) => {
    const alias = form.text(`alias-${at}`).trim()
    const text = form.text(`weight-${at}`).trim()
    if (alias === '' || text === '') return []
    if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw noShare(`weight-${at}`)
    return [{ alias, weight: Number(text) }]
  })
  return { weights, sticky: form.isTicked('sticky'), stickySeconds: Number(form.text('stickySeconds')) }
}

const noShare = (path: string) => marked({ path, message: 'A whole number from 0 to 100' })

const TYPES = ['query', 'cookie', 'header'] as const

/** `type`, `key`, `value`, `alias`; `checkTraffic` judges all but the first. */
export function readRule(form: Form): TrafficView['rules'][number] {
  const type = TYPES.find((one) => one === form.text('type'))
  if (type === undefined) throw marked({ path: 'type', message: 'One of query, cookie, header' })
  return { type, key: form.text('key').trim(), value: form.text('value'), alias: form.text('alias').trim() }
}

const IN_RULE = /^rules\.\d+\./

/** As the API does. A refusal names the field of the rule, not its place among all: only one is in the form. */
export function checkTraffic(ctx: Context, request: Request, traffic: TrafficView): void {
  try {
    checkInput(ctx, request, trafficBody, traffic)
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    const details = (thrown.details ?? []).map(({ path, message }) => ({
      path: path.replace(IN_RULE, ''),
      message,
    }))
    const isInRule = thrown.details?.some(({ path }) => IN_RULE.test(path)) === true
    throw new AppError('invalid', isInRule ? thrown.message : (details[0]?.message ?? thrown.message), {
      details,
    })
  }
}
