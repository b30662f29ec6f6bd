import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** What a picture of a deployment needs: the folder that is shown, and whether that has a start page. */
export type PicturedView = {
  deploymentId: string
  basePath: string
  hasStartPage: boolean
  icon: string | null
}

/** Of deployments that the caller was shown, by id. */
export const picturedDeployments = (
  { db }: Context,
  ids: readonly string[],
): ReadonlyMap<string, PicturedView> => new Map(listPictured(db, ids).map((one) => [one.of, viewOf(one)]))

/** What the addresses of projects show, by the id of the project: their alias `production`, else the oldest. */
export const picturedProjects = (
  { db }: Context,
  ids: readonly string[],
): ReadonlyMap<string, PicturedView> => new Map(listShown(db, ids).map((one) => [one.of, viewOf(one)]))

type Row = { of: string; deploymentId: string; basePath: string; hasStartPage: number; icon: string | null }

const viewOf = ({ of: _, hasStartPage, ...row }: Row): PicturedView => ({
  ...row,
  hasStartPage: hasStartPage === 1,
})

const START_PAGE = (shown: string) =>
  `EXISTS (SELECT 1 FROM assets WHERE deployment_id = d.id AND path = substr(${shown}.base_path || '/index.html', 2))`

const listPictured = (db: Db, ids: readonly string[]): Row[] =>
  prepared<Row>(
    db,
    `SELECT d.id AS of, d.id AS deploymentId, d.base_path AS basePath, d.icon, ${START_PAGE('d')} AS hasStartPage
     FROM deployments d WHERE d.id IN (SELECT value FROM json_each(?))`,
  ).all(JSON.stringify(ids))

const listShown = (db: Db, projectIds: readonly string[]): Row[] =>
  prepared<Row>(
    db,
    `SELECT a.project_id AS of, d.id AS deploymentId, a.base_path AS basePath, d.icon, ${START_PAGE('a')} AS hasStartPage
     FROM json_each(?) asked JOIN aliases a ON a.id = (
       SELECT id FROM aliases WHERE project_id = asked.value ORDER BY name <> 'production', created_at LIMIT 1)
     JOIN deployments d ON d.id = a.deployment_id`,
  ).all(JSON.stringify(projectIds))
