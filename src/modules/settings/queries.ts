import type { DbOrTx } from '../../db/open.ts'
import { settings } from '../../db/schema.ts'

export function readSettingRows(db: DbOrTx): Map<string, string> {
  return new Map(
    db
      .select({ key: settings.key, value: settings.value })
      .from(settings)
      .all()
      .map(({ key, value }) => [key, value]),
  )
}

export function upsertSetting(db: DbOrTx, key: string, value: string, updatedAt: number): void {
  db.insert(settings)
    .values({ key, value, updatedAt })
    .onConflictDoUpdate({ target: settings.key, set: { value, updatedAt } })
    .run()
}
