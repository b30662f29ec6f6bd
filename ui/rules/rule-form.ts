import type { Context } from '../../src/context.ts'
import type { ErrorDetail } from '../../src/domain/errors.ts'
import type { RedirectStatus } from '../../src/domain/redirect-status.ts'
import { REDACTED } from '../../src/modules/proxy-rules/header-values.ts'
import { headerConfigBody, newRuleBody } from '../../src/modules/proxy-rules/model.ts'
import { findRuleFlaws, type NewRule } from '../../src/modules/proxy-rules/service.ts'
import { checkInput, type Form, flawsOf } from '../frame/form.ts'
import { flawsOfText, isPipeline } from './rule-text.ts'
import { NEW_HEADERS, type RuleValues } from './rule-values.ts'
import type { TypedRule } from './typed-rule.ts'

/** A pipeline of 1 MiB, of which each character takes three at worst. */
export const MAX_RULE_FORM_BYTES = 4 * 1024 * 1024

/** All errors in the form, by the name of their field. Stores nothing. */
export async function flawsOfForm(
  ctx: Context,
  request: Request,
  { grant, level, id, form }: TypedRule,
): Promise<ErrorDetail[]> {
  if (isPipeline(form)) return flawsOfText(ctx, { grant, level, id, form })
  const values = form.all()
  const own = flawsOfHeaders(values)
  const input = ruleOf(form)
  // Text that is not a number must not hide what is wrong elsewhere.
  const { order, timeout, ...texts } = input
  const found = [...flawsOfShape(ctx, request, input), ...(await findRuleFlaws(ctx, grant, level, id, texts))]
  const named = found.flatMap(({ path, message }) => toField(path, message, values))
  const all = [...own, ...named]
  return all.filter(({ path }, at) => all.findIndex((other) => other.path === path) === at)
}

/** The same errors as those of the API. */
function flawsOfShape(ctx: Context, request: Request, input: NewRule): ErrorDetail[] {
  // NaN becomes null in JSON, which the check then rejects as not a number.
  const { headerConfig, ...rest } = JSON.parse(JSON.stringify(input))
  return [
    ...flawsOf(() => checkInput(ctx, request, newRuleBody, rest)),
    ...flawsOf(() => checkInput(ctx, request, headerConfigBody, headerConfig ?? {})).map(
      ({ path, message }) => ({ path: `headerConfig.${path}`, message }),
    ),
  ]
}

/** The form as input for the API, but for a pipeline. Invalid numbers are left for the checks to report. */
export function ruleOf(form: Form): NewRule {
  const methods = listOf(form.text('methods'))
  const order = form.text('order').trim()
  const description = form.text('description').trim()
  return {
    pathPattern: form.text('pathPattern').trim(),
    method: methods.length === 1 ? (methods[0] ?? null) : null,
    methods: methods.length > 1 ? methods : null,
    ...kindOf(form),
    targetUrl: form.text('targetUrl').trim(),
    stripPrefix: form.isTicked('stripPrefix'),
    ...(order === '' ? {} : { order: Number(order) }),
    ...(form.text('timeout').trim() === '' ? {} : { timeout: Number(form.text('timeout')) }),
    preserveHost: form.isTicked('preserveHost'),
    forwardCookies: form.isTicked('forwardCookies'),
    headerConfig: headersOf(form),
    isEnabled: form.isTicked('isEnabled'),
    debugEnabled: form.isTicked('debugEnabled'),
    description: description === '' ? null : description,
  }
}

const KINDS = ['external_proxy', 'internal_rewrite', 'pipeline', 'redirect'] as const

/** Only a redirect has a status. A text that is none of the statuses is left for the checks to report. */
function kindOf(form: Form): Pick<NewRule, 'proxyType' | 'status'> {
  const proxyType = KINDS.find((kind) => kind === form.text('proxyType')) ?? 'external_proxy'
  const status = form.text('status')
  return proxyType === 'redirect' && status !== ''
    ? { proxyType, status: Number(status) as RedirectStatus }
    : { proxyType, status: null }
}

/** Commas, spaces and line breaks separate the names. */
const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((name) => name !== '')

function headersOf(form: Form): NewRule['headerConfig'] {
  const values = form.all()
  const strip = listOf(form.text('strip'))
  const add = Object.fromEntries([...storedHeaders(values), ...newHeaders(values)])
  const config = {
    ...(Object.keys(add).length === 0 ? {} : { add }),
    ...(form.isTicked('limitForward') ? { forward: listOf(form.text('forward')) } : {}),
    ...(strip.length === 0 ? {} : { strip }),
  }
  return Object.keys(config).length === 0 ? null : config
}

function storedHeaders(values: RuleValues): [name: string, value: string][] {
  return rowsOf(values, 'header').flatMap(({ name, value, deed }): [string, string][] => {
    if (name === '' || deed === 'remove') return []
    return [[name, deed === 'replace' ? value : REDACTED]]
  })
}

const newHeaders = (values: RuleValues): [name: string, value: string][] =>
  rowsOf(values, 'new').flatMap(({ name, value }): [string, string][] => (name === '' ? [] : [[name, value]]))

type HeaderRow = { name: string; value: string; deed: string; field: string }

function rowsOf(values: RuleValues, kind: 'header' | 'new'): HeaderRow[] {
  const rows: HeaderRow[] = []
  for (let at = 0; kind === 'new' ? at < NEW_HEADERS : `header-${at}-name` in values; at += 1) {
    const field = `${kind}-${at}`
    const name = values[`${field}-name`]?.trim() ?? ''
    rows.push({ name, value: values[`${field}-value`] ?? '', deed: values[`${field}-do`] ?? '', field })
  }
  return rows
}

/** Values are not shown again: an empty one was probably forgotten, and a typed one that is not stored is lost. */
const flawsOfHeaders = (values: RuleValues): ErrorDetail[] => [
  ...rowsOf(values, 'header').flatMap(({ deed, value, field }) => {
    const path = `${field}-value`
    if (deed === 'replace' && value === '')
      return [{ path, message: 'Enter the new value, or keep the stored one' }]
    if (deed !== 'replace' && value !== '')
      return [{ path, message: 'Choose “Replace it” above to store this value, or leave it empty' }]
    return []
  }),
  ...rowsOf(values, 'new').flatMap(({ name, value, field }) => {
    if (name === '' && value !== '')
      return [{ path: `${field}-name`, message: 'Enter the name of the header' }]
    if (name !== '' && value === '')
      return [{ path: `${field}-value`, message: 'Enter the value of the header' }]
    return []
  }),
]

/** The form field for a path of the API. */
function toField(path: string, message: string, values: RuleValues): ErrorDetail {
  const [first = '', second = '', ...rest] = path.split('.')
  const [top = ''] = first.split('[')
  if (top === 'method') return { path: 'methods', message }
  if (top !== 'headerConfig') return { path: top, message }
  if (second.startsWith('add')) return { path: headerField(rest.join('.'), values), message }
  return { path: second.startsWith('strip') ? 'strip' : 'forward', message }
}

function headerField(name: string, values: RuleValues): string {
  const isIt = (row: HeaderRow) => row.name === name
  const stored = rowsOf(values, 'header').find(isIt)
  if (stored !== undefined) return `${stored.field}-value`
  return `${rowsOf(values, 'new').find(isIt)?.field ?? 'new-0'}-name`
}
