import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { Problem } from '../../domain/file-problems.ts'
import { MAX_FILE_BYTES } from '../../domain/yaml-file.ts'
import type { Grant } from '../auth/authorize.ts'
import { getRule, type RuleView } from '../proxy-rules/service.ts'
import { listSchemas } from '../schemas/service.ts'
import type { ReadRuleView, RuleExample } from './model.ts'

export type { ReadRuleView, RuleExample } from './model.ts'

type ReadText = {
  rule: ReadRuleView['rule']
  problems: readonly Problem[]
  warnings: readonly Problem[]
}
type ProjectSchema = { id: string; name: string; fields: readonly string[] }

/** What reads and writes rules as YAML: the compiler of rule files. */
export type RuleTexts = {
  read(yaml: string, schemas: readonly ProjectSchema[]): Promise<ReadText>
  write(rule: RuleView): string
  examples: readonly RuleExample[]
}

/** The errors of the compiler, all at once, and the rule that it makes. Throws `too_large` for more than 1 MiB. */
export async function readRule(
  ctx: Context,
  { read }: Pick<RuleTexts, 'read'>,
  grant: Grant,
  yaml: string,
): Promise<ReadRuleView> {
  if (Buffer.byteLength(yaml) > MAX_FILE_BYTES) throw new AppError('too_large', 'A rule has at most 1 MiB')
  const schemas = listSchemas(ctx, grant).map(({ id, name, fields }) => ({
    id,
    name,
    fields: fields.map((field) => field.name),
  }))
  const { rule, problems, warnings } = await read(yaml, schemas)
  return {
    ok: problems.length === 0,
    errors: problems.map(({ line, column, message }) => ({ line, column, message })),
    warnings: warnings.map(({ line, message }) => `Line ${line}: ${message}`),
    rule,
  }
}

export const ruleAsText = (
  ctx: Context,
  { write }: Pick<RuleTexts, 'write'>,
  grant: Grant,
  id: string,
): string => write(getRule(ctx, grant, id))
