import type { Context } from '../../src/context.ts'
import { AppError } from '../../src/domain/errors.ts'
import { trafficBody } from '../../src/modules/traffic/model.ts'
import type { TrafficView } from '../../src/modules/traffic/service.ts'
import { checkInput, type Form, marked } from '../frame/form.ts'

/** The maximum number of aliases in a split. */
export const MAX_WEIGHTS = 20

/**
 * Reads `alias-0` with `weight-0` and so on, `sticky` and `stickySeconds`. An empty weight removes the alias. Throws
 * `invalid` and names the field that is not a whole number.
 */
export function readWeights(form: Form): Pick<TrafficView, 'weights' | 'sticky' | 'stickySeconds'> {
  const weights = Array.from({ length: MAX_WEIGHTS + 1 }, (_, at) => at).flatMap((at) => {
    const alias = form.text(`alias-${at}`).trim()
    const text = form.text(`weight-${at}`).trim()
    if (alias === '' || text === '') return []
    if (!/^\d{1,3}$/.test(text) || Number(text) > 100) throw noShare(`weight-${at}`)
    return [{ alias, weight: Number(text) }]
  })
  return { weights, sticky: form.isTicked('sticky'), stickySeconds: Number(form.text('stickySeconds')) }
}

const noShare = (path: string) => marked({ path, message: 'Enter a whole number from 0 to 100' })

const TYPES = ['query', 'cookie', 'header'] as const

/** Reads `type`, `key`, `value` and `alias`. `checkTraffic` checks all but the type. */
export function readRule(form: Form): TrafficView['rules'][number] {
  const type = TYPES.find((one) => one === form.text('type'))
  if (type === undefined) throw marked({ path: 'type', message: 'One of query, cookie, header' })
  return { type, key: form.text('key').trim(), value: form.text('value'), alias: form.text('alias').trim() }
}

const IN_RULE = /^rules\[\d+\]\./

/** The API's check. Errors name the field of the rule without its index, because the form has only one rule. */
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
