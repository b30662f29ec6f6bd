import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

type Things = Record<
  'projects' | 'deployments' | 'users' | 'sessions' | 'suspendedUsers' | 'suspendedKeys',
  number
>

export function countThings(db: Db): Things {
  return (
    prepared<Things>(
      db,
      `SELECT (SELECT count(*) FROM projects) AS projects,
         (SELECT count(*) FROM projects p JOIN deployments d ON d.project_id = p.id) AS deployments,
         (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM sessions) AS sessions,
         (SELECT count(*) FROM users WHERE suspended_at IS NOT NULL) AS suspendedUsers,
         (SELECT count(*) FROM api_keys WHERE suspended_at IS NOT NULL) AS suspendedKeys`,
    ).get() ?? { projects: 0, deployments: 0, users: 0, sessions: 0, suspendedUsers: 0, suspendedKeys: 0 }
  )
}
