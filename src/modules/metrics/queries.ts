import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

type Things = { projects: number; deployments: number; users: number; sessions: number }

export function countThings(db: Db): Things {
  return (
    prepared<Things>(
      db,
      `SELECT (SELECT count(*) FROM projects) AS projects,
         (SELECT count(*) FROM projects p JOIN deployments d ON d.project_id = p.id) AS deployments,
         (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM sessions) AS sessions`,
    ).get() ?? { projects: 0, deployments: 0, users: 0, sessions: 0 }
  )
}
