import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { HtmlHandling } from '../../domain/html-handling.ts'

/** A deployment as a picture shows it. */
export type PicturedRow = {
  deploymentId: string
  commitSha: string
  revision: number
  updatedAt: number
  htmlHandling: HtmlHandling | null
  isSpa: number | null
}

export const findPictured = (db: Db, deploymentId: string): PicturedRow | null =>
  prepared<PicturedRow>(
    db,
    `SELECT d.id AS deploymentId, d.commit_sha AS commitSha, d.revision, d.updated_at AS updatedAt,
            p.html_handling AS htmlHandling, p.is_spa AS isSpa
     FROM deployments d JOIN projects p ON p.id = d.project_id WHERE d.id = ?`,
  ).get(deploymentId)
