import type { Context } from '../../src/context.ts'
import type { ErrorDetail } from '../../src/domain/errors.ts'
import type { Grant } from '../../src/modules/auth/authorize.ts'
import { findRuleFlaws, getRule, type NewRule } from '../../src/modules/proxy-rules/service.ts'
import { type ReadRuleView, readRule } from '../../src/modules/rule-texts/service.ts'
import type { PipelineConfig } from '../../src/pipelines/language/model.ts'
import { isSamePipeline } from '../../src/pipelines/language/same-pipeline.ts'
import { RULE_EXAMPLES } from '../../src/rules/rule-examples.ts'
import { ruleTexts } from '../../src/rules/rule-texts.ts'
import type { Form } from '../frame/form.ts'
import type { TypedRule } from './typed-rule.ts'

/** The box of a pipeline. */
export const TEXT = 'yaml'

export const isPipeline = (form: Form): boolean => form.text('proxyType') === 'pipeline'

/** The errors of the text, each with its line. A pipeline that is stored as it is here is not judged again. */
export async function flawsOfText(
  ctx: Context,
  { grant, level, id, form }: TypedRule,
): Promise<ErrorDetail[]> {
  const read = await readRule(ctx, ruleTexts, grant, textIn(form))
  const isKept = read.rule !== null && id !== null && isStored(ctx, grant, id, read.rule)
  const errors = isKept ? read.errors.filter(({ message }) => !/^pipeline\b/.test(message)) : read.errors
  const told = errors.map(({ line, message }) => flaw(`Line ${line}: ${message}`))
  if (told.length > 0 || read.rule === null) return told
  if (read.rule.proxyType !== 'pipeline')
    return [flaw('Line 1: it has no pipeline: write one, or choose another kind above')]
  const found = await findRuleFlaws(ctx, grant, level, id, inputOfRead(read.rule, isKept))
  return found.map(({ path, message }) => flaw(`${path.replace(/^pipelineConfig/, 'pipeline')}: ${message}`))
}

/** The rule that the text makes; it has no flaws. */
export async function inputOfText(
  ctx: Context,
  { grant, id, form }: Pick<TypedRule, 'grant' | 'id' | 'form'>,
): Promise<NewRule> {
  const { rule } = await readRule(ctx, ruleTexts, grant, textIn(form))
  if (rule === null) throw new Error('The text makes no rule')
  return inputOfRead(rule, id !== null && isStored(ctx, grant, id, rule))
}

type ReadRule = NonNullable<ReadRuleView['rule']>

export function inputOfRead(rule: ReadRule, isKept = false): NewRule {
  const { pathPattern, method, methods, proxyType, order, timeout, pipelineConfig } = rule
  const { isEnabled, debugEnabled, description } = rule
  return {
    ...{ pathPattern, method, methods, proxyType, timeout, isEnabled, debugEnabled, description },
    ...(order === null ? {} : { order }),
    ...(isKept ? {} : { pipelineConfig }),
  }
}

function isStored(ctx: Context, grant: Grant, id: string, { pipelineConfig }: ReadRule): boolean {
  const stored = getRule(ctx, grant, id)
  if (stored.proxyType !== 'pipeline' || stored.pipelineConfig === null || pipelineConfig === null)
    return false
  return isSamePipeline(stored.pipelineConfig as PipelineConfig, pipelineConfig as PipelineConfig)
}

const flaw = (message: string): ErrorDetail => ({ path: TEXT, message })

/** Browsers send line feeds as CR LF. */
const textIn = (form: Form): string => form.text(TEXT).replaceAll('\r\n', '\n')

/** The form with an example in its box; what was typed follows as comments. */
export function withExample(values: Readonly<Record<string, string>>): Record<string, string> {
  const example = RULE_EXAMPLES.find(({ id }) => id === values['example'])
  if (example === undefined) return { ...values }
  const typed = (values[TEXT] ?? '').trim()
  const isExample = RULE_EXAMPLES.some(({ yaml }) => yaml.trim() === typed.replaceAll('\r\n', '\n'))
  const rest = typed === '' || isExample ? '' : `\n${typed.replaceAll(/^/gm, '# ')}\n`
  return { ...values, proxyType: 'pipeline', [TEXT]: `${example.yaml}${rest}` }
}
