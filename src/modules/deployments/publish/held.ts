import type { Context } from '../../../context.ts'
import { audit } from '../../../db/audit.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { prepared } from '../../../db/statements.ts'
import { inTidyingTransaction } from '../../../db/tidying.ts'
import type { Actor } from '../../../domain/actor.ts'
import { AppError, invalidChoice } from '../../../domain/errors.ts'
import { type AliasRow, findAliasByName } from '../../aliases/service.ts'
import type { Grant } from '../../auth/authorize.ts'
import { projectOf } from '../../projects/service.ts'
import type { CheckResult } from '../../releases/model.ts'
import { type DeploymentRow, findDeployment } from '../queries.ts'
import { point, type Wanted } from './point.ts'
import type { Question } from './question.ts'
import { tellOfPublish } from './tell.ts'

/** A release that waits for somebody: what was wanted, and what checks said, or what is unclear. */
export type Held = Wanted & { alias: string; checks: CheckResult[]; question?: Question }

export function noteHeld({ db }: Context, deploymentId: string, held: Held): void {
  const { alias, preview, ruleSets, checks, question } = held
  prepared(
    db,
    `INSERT INTO held_releases (deployment_id, held) VALUES (?, ?)
     ON CONFLICT (deployment_id) DO UPDATE SET held = excluded.held`,
  ).run(deploymentId, JSON.stringify({ alias, preview, ruleSets, checks, question }))
}

export function forgetHeld({ db }: Context, deploymentId: string): void {
  prepared(db, 'DELETE FROM held_releases WHERE deployment_id = ?').run(deploymentId)
}

const findHeld = ({ db }: Context, deploymentId: string): Held | null => {
  const row = prepared<{ held: string }>(db, 'SELECT held FROM held_releases WHERE deployment_id = ?').get(
    deploymentId,
  )
  return row === null ? null : (JSON.parse(row.held) as Held)
}

/** The release that waits; null if none does, or if somebody moved the alias here since. */
export function heldRelease(ctx: Context, grant: Grant, deploymentId: string): Held | null {
  const held = findHeld(ctx, deploymentId)
  if (held === null) return null
  const alias = findAliasByName(ctx, projectOf(ctx, grant).id, held.alias)
  return alias?.deploymentId === deploymentId ? null : held
}

/**
 * Moves the alias of a release that was held back, whatever the checks said. `startPage`: the folder, such as `dist/`, of the
 * answer to a question. Throws 409 if it is locked or nothing waits.
 */
export function releaseHeld(ctx: Context, grant: Grant, deploymentId: string, startPage = ''): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const project = projectOf(ctx, grant, tx)
    const stored = findDeployment(tx, deploymentId)
    if (stored?.projectId !== project.id)
      throw new AppError('not_found', 'The project has no such deployment')
    const held = heldRelease(ctx, grant, deploymentId)
    if (held === null) throw new AppError('conflict', 'Nothing holds this deployment back any more')
    const deployment = startPage === '' ? stored : { ...stored, basePath: answered(held, startPage) }
    const { move, alias, published } = point(ctx, tx, grant.actor, { project, deployment, publication: held })
    if (!published) throw new AppError('conflict', `The alias ${held.alias} is locked. Unlock it first.`)
    tellOfPublish(ctx, tx, grant.actor, { project, deployment, alias, move, isNew: false })
    if (held.question === undefined)
      tellOfForce(ctx, tx, grant.actor, { alias, deployment, checks: held.checks })
    forgetHeld(ctx, deploymentId)
  })
}

function answered({ question }: Held, startPage: string): string {
  if (question?.startPages.includes(startPage) !== true)
    throw invalidChoice('startPage', 'Choose one of the folders with a start page')
  return `/${startPage.slice(0, -1)}`
}

/** Says in the audit log which checks were overruled, in the move's transaction. */
export function tellOfForce(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  {
    alias,
    deployment,
    checks,
  }: { alias: AliasRow | null; deployment: DeploymentRow; checks: readonly CheckResult[] },
): void {
  if (alias === null) return
  audit(ctx, tx, actor, {
    action: 'release.force',
    target: { kind: 'alias', id: alias.id, name: alias.name },
    projectId: alias.projectId,
    after: {
      deploymentId: deployment.id,
      failed: checks.filter(({ ok }) => ok === false).map(({ name }) => name),
    },
  })
}
