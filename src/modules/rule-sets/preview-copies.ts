import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes the preview copies that are attached to this alias and to no other; returns their names. contract §9.2. */
export const deletePreviewCopiesOf = (db: Db, aliasId: string): string[] =>
  prepared<{ name: string }>(
    db,
    `DELETE FROM rule_sets WHERE is_preview = 1
       AND id IN (SELECT rule_set_id FROM rule_set_aliases WHERE alias_id = ?1)
       AND NOT EXISTS (SELECT 1 FROM rule_set_aliases WHERE rule_set_id = rule_sets.id AND alias_id <> ?1)
     RETURNING name`,
  )
    .all(aliasId)
    .map(({ name }) => name)
