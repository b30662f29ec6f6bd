import type { TestApp } from './test-app.ts'

/** Deletes an alias that a domain names, as versions before did: their data still has such domains. */
export function removeUsedAlias({ ctx }: TestApp, id: string): void {
  ctx.db.sqlite.query('DELETE FROM alias_history WHERE alias_id = ?').run(id)
  ctx.db.sqlite.query('DELETE FROM aliases WHERE id = ?').run(id)
}
