import { isDeepStrictEqual } from 'node:util'
import type { SecretBox } from '../../platform/secret-box.ts'
import { parseStored, showHeaderConfig } from './header-values.ts'
import type { RuleRow } from './queries.ts'

/** A change of a rule: all of it before and after, because of which values its headers had where. */
export type RuleChangeToUndo = { before: RuleRow; after: RuleRow }

export type RuleField = Exclude<keyof RuleRow, 'updatedAt' | 'isWrittenByAdmin'>

/** The fields in which two states of a rule differ as they are stored. */
export const fieldsBetween = (before: RuleRow, after: RuleRow): RuleField[] =>
  (Object.keys(after) as (keyof RuleRow)[]).filter(
    (field): field is RuleField =>
      field !== 'updatedAt' && field !== 'isWrittenByAdmin' && before[field] !== after[field],
  )

/** Undefined if nothing differs. */
export const changeToUndo = (before: RuleRow, after: RuleRow): RuleChangeToUndo | undefined =>
  fieldsBetween(before, after).length === 0 ? undefined : { before, after }

/** Compares header values opened: they are sealed otherwise each time. */
export function hasSameField(secrets: SecretBox, one: RuleRow, other: RuleRow, field: RuleField): boolean {
  if (field !== 'headerConfig') return one[field] === other[field]
  const [a, b] = [one, other].map(({ id, headerConfig }) =>
    showHeaderConfig(secrets, id, parseStored(headerConfig), true),
  )
  return isDeepStrictEqual(a, b)
}
