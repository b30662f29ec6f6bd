import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes up to `limit` deliveries of a project's hooks; returns false if there were none. The hooks go with the project. */
export const deleteSomeDeliveriesOf = (db: Db, projectId: string, limit: number): boolean =>
  prepared(
    db,
    `DELETE FROM webhook_deliveries WHERE seq IN
       (SELECT d.seq FROM webhooks w JOIN webhook_deliveries d ON d.hook_id = w.id WHERE w.project_id = ? LIMIT ?)`,
  ).run(projectId, limit).changes > 0
