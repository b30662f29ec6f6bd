import type { Caller, Context } from '../../../context.ts'
import { type DbOrTx, inTransaction } from '../../../db/open.ts'
import { inTidyingTransaction } from '../../../db/tidying.ts'
import type { Actor } from '../../../domain/actor.ts'
import { AppError } from '../../../domain/errors.ts'
import { type AliasRow, findAliasByName } from '../../aliases/service.ts'
import type { Project } from '../../projects/service.ts'
import { checksOf } from '../../releases/applying.ts'
import { releaseCounts } from '../../releases/counts.ts'
import type { CheckResult, Release, ReleaseStatus } from '../../releases/model.ts'
import { runChecks } from '../../releases/run.ts'
import { type AskableSite, siteEngine } from '../../releases/site-port.ts'
import { tellHooks } from '../../webhooks/outbox.ts'
import { type DeploymentRow, findDeployment } from '../queries.ts'
import { deploymentView } from '../service.ts'
import { authorizeUploadTo, callerNow } from './access.ts'
import { whileChecked } from './being-checked.ts'
import { forgetHeld, noteHeld, tellOfForce } from './held.ts'
import { type Pointed, point } from './point.ts'
import type { Publication } from './publication.ts'
import { type AliasMark, findAliasMark } from './queries.ts'
import { type Question, questionOf } from './question.ts'
import { tellOfPublish } from './tell.ts'

/** What an upload publishes, and what of it becomes an alias. */
export type Releasing = { project: Project; deployment: DeploymentRow; publication: Publication }

/** Where the alias is now, and what became of the upload's wish. */
export type Released = Pick<Pointed, 'alias' | 'published'> & { release: Release }

/** A release whose checks are still to be run: the deployment is stored, the alias has not moved. */
export type Waiting = {
  asked: NonNullable<ReturnType<typeof checksOf>>
  sites: { before: AskableSite | undefined; after: AskableSite }
  mark: AliasMark | null
}

/**
 * Points the alias, in the transaction that makes the version; or, if there is something to check, tries the move out and takes
 * it back, so that whatever is wrong with it is told before anything is kept. contract 13 §8.
 */
export function releaseOrWait(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  releasing: Releasing,
): (Pointed & { release: Release; waiting: null }) | { waiting: Waiting } {
  const { project, deployment, publication } = releasing
  const { alias: name } = publication
  const before = name === null ? undefined : findAliasByName(ctx, project.id, name)
  const wouldMove = name !== null && !before?.isLocked && !isThere(before, deployment)
  if (wouldMove && publication.ask) {
    const question = questionOf(ctx, before, deployment)
    if (question !== null) return asked(ctx, releasing, before, { name, question })
  }
  const waiting = wouldMove ? waitingOf(ctx, tx, actor, releasing) : null
  if (waiting !== null) return { waiting }
  const pointed = point(ctx, tx, actor, releasing)
  const status = name === null ? 'none' : pointed.published ? 'moved' : 'locked'
  return { ...pointed, release: { status, alias: name, checks: [] }, waiting: null }
}

/** The deployment is stored, and the alias stays until somebody says what it should show. */
function asked(
  ctx: Context,
  { deployment, publication }: Releasing,
  before: AliasRow | undefined,
  { name, question }: { name: string; question: Question },
): Pointed & { release: Release; waiting: null } {
  noteHeld(ctx, deployment.id, { ...publication, alias: name, checks: [], question })
  const release = { status: 'asked' as const, alias: name, checks: [] }
  return { alias: before ?? null, published: false, move: null, release, waiting: null }
}

const isThere = (alias: AliasRow | undefined, { id, basePath }: DeploymentRow): boolean =>
  alias?.deploymentId === id && alias.basePath === basePath

function waitingOf(ctx: Context, tx: DbOrTx, actor: Actor, releasing: Releasing): Waiting | null {
  const { project, deployment, publication } = releasing
  const { alias: name } = publication
  const asked = name === null ? null : checksOf(ctx, project.id, deployment, name)
  if (name === null || asked === null) return null
  const site = () => siteEngine(ctx).shownBy({ owner: project.owner, repo: project.name, name })
  const before = site()
  // A start page that there was not cannot be lost.
  if (before === undefined && asked.checks.length === 0) return null
  const after = takenBack(ctx, () => {
    point(ctx, tx, actor, releasing)
    return site()
  })
  if (after === undefined) throw new Error(`The alias ${name} shows nothing although it was moved`)
  return { asked, sites: { before, after }, mark: findAliasMark(ctx.db, project.id, name) }
}

/** Does something within the transaction, looks at what has come of it, and undoes it. */
function takenBack<T>({ db: { sqlite } }: Context, work: () => T): T {
  sqlite.run('SAVEPOINT tried_release')
  try {
    return work()
  } finally {
    sqlite.run('ROLLBACK TO tried_release')
    sqlite.run('RELEASE tried_release')
  }
}

/** Notes how the release ended, in the transaction that decides it. */
export type NoteRelease = (tx: DbOrTx, release: Release) => void

/** What became of a recorded upload, once its checks have run. Counts it. */
export async function releaseRecorded(
  ctx: Context,
  caller: Caller,
  recorded: Releasing & { released: ReturnType<typeof releaseOrWait> },
  note: NoteRelease,
): Promise<Released> {
  const { released } = recorded
  const done =
    released.waiting === null ? released : await finishRelease(ctx, caller, recorded, released.waiting, note)
  const { status } = done.release
  if (status !== 'none') releaseCounts(ctx)[status] += 1
  return done
}

/** The same for a deployment whose release a crash left undecided: sent again, it is checked again. */
export function releaseAgain(
  ctx: Context,
  caller: Caller,
  {
    projectId,
    deploymentId,
    publication,
  }: { projectId: string; deploymentId: string; publication: Publication },
  note: NoteRelease,
): Promise<Released> {
  const recorded = inTidyingTransaction(ctx.db, (tx) => {
    const project = authorizeUploadTo(ctx, callerNow(ctx, caller), projectId)
    const deployment = findDeployment(tx, deploymentId)
    if (deployment === undefined) throw new AppError('not_found', 'The deployment has been deleted')
    const released = releaseOrWait(ctx, tx, caller.actor, { project, deployment, publication })
    if (released.waiting === null) {
      const { alias, move, release } = released
      tellOfPublish(ctx, tx, caller.actor, { project, deployment, alias, move, isNew: false })
      note(tx, release)
    }
    return { project, deployment, publication, released }
  })
  return releaseRecorded(ctx, caller, recorded, note)
}

/** Runs the checks of a stored deployment, then moves the alias or holds it back. */
function finishRelease(
  ctx: Context,
  caller: Caller,
  releasing: Releasing,
  waiting: Waiting,
  note: NoteRelease,
): Promise<Released> {
  return whileChecked(ctx, releasing.deployment.id, async () => {
    const checks = await runChecks(waiting.sites, waiting.asked)
    const isFailed = checks.some(({ ok }) => ok === false)
    const decide = { checks, mark: waiting.mark, note }
    return isFailed && !releasing.publication.force
      ? inTransaction(ctx.db, (tx) => holdBack(ctx, tx, caller, releasing, decide))
      : inTidyingTransaction(ctx.db, (tx) => moveChecked(ctx, tx, caller, releasing, decide))
  })
}

type Decision = { checks: CheckResult[]; mark: AliasMark | null; note: NoteRelease }

function holdBack(
  ctx: Context,
  tx: DbOrTx,
  caller: Caller,
  releasing: Releasing,
  { checks, note }: Decision,
): Released {
  const { project, deployment, alias } = stillThere(ctx, tx, caller, releasing)
  const release = releaseOf(releasing, 'failed', checks)
  tellHooks(ctx, tx, {
    event: 'check.failed',
    actor: caller.actor,
    projectId: project.id,
    data: () => ({ deployment: deploymentView(ctx, deployment), alias: release.alias, checks }),
  })
  if (release.alias !== null)
    noteHeld(ctx, deployment.id, { ...releasing.publication, alias: release.alias, checks })
  note(tx, release)
  return { alias, published: false, release }
}

function moveChecked(
  ctx: Context,
  tx: DbOrTx,
  caller: Caller,
  releasing: Releasing,
  { checks, mark, note }: Decision,
): Released {
  const { actor } = caller
  const { project, deployment, alias } = stillThere(ctx, tx, caller, releasing)
  const isOvertaken = !isThere(alias ?? undefined, deployment) && !isSameMark(ctx, releasing, mark)
  if (isOvertaken) {
    const release = releaseOf(releasing, 'overtaken', checks)
    note(tx, release)
    return { alias, published: false, release }
  }
  const { move, ...pointed } = point(ctx, tx, actor, { ...releasing, project, deployment })
  tellOfPublish(ctx, tx, actor, { project, deployment, alias: pointed.alias, move, isNew: false })
  const isForced = checks.some(({ ok }) => ok === false)
  const status = pointed.published ? (isForced ? 'forced' : 'passed') : 'locked'
  const release = releaseOf(releasing, status, checks)
  if (status === 'forced') tellOfForce(ctx, tx, actor, { alias: pointed.alias, deployment, checks })
  forgetHeld(ctx, deployment.id)
  note(tx, release)
  return { ...pointed, release }
}

/** The checks took their time: the project, the deployment or the right to publish may be gone. */
function stillThere(
  ctx: Context,
  tx: DbOrTx,
  caller: Caller,
  { project: { id }, deployment: { id: deploymentId }, publication }: Releasing,
): { project: Project; deployment: DeploymentRow; alias: AliasRow | null } {
  const project = authorizeUploadTo(ctx, callerNow(ctx, caller), id)
  const deployment = findDeployment(tx, deploymentId)
  if (deployment === undefined)
    throw new AppError('not_found', 'The deployment was deleted while its release was checked')
  return { project, deployment, alias: findAliasByName(ctx, id, publication.alias ?? '') ?? null }
}

/** Whether nobody moved, made or deleted the alias since. */
function isSameMark(ctx: Context, { project, publication }: Releasing, mark: AliasMark | null): boolean {
  const now = findAliasMark(ctx.db, project.id, publication.alias ?? '')
  return now?.aliasId === mark?.aliasId && now?.historyId === mark?.historyId
}

const releaseOf = ({ publication }: Releasing, status: ReleaseStatus, checks: CheckResult[]): Release => ({
  status,
  alias: publication.alias,
  checks,
})
