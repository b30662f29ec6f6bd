import type { Context } from '../../context.ts'
import { actorViews } from '../../db/actor-names.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { parseBasePath } from '../../domain/base-path.ts'
import { AppError, invalidChoice } from '../../domain/errors.ts'
import { withoutEmpty } from '../../domain/given.ts'
import { isoTime, isoTimeOrNull, requireTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { aboutRow, type Grant, mayDo, within } from '../auth/authorize.ts'
import {
  findDeploymentOfProject,
  findDeploymentsBySha,
  hasFolder,
  type PointedAt,
} from '../deployments/service.ts'
import { type AliasHosts, hostsOfAlias } from '../domains/alias-hosts.ts'
import { projectOf, readableProjectIds } from '../projects/service.ts'
import { addAlias, changeSettings, checkAliasName, moveAlias, settingsOf } from './changes.ts'
import type { AliasChange, AliasView, HistoryView, NewAlias } from './model.ts'
import { tellOfMove } from './moves.ts'
import { endDuePreviewsIn } from './previews/due.ts'
import { endPreview } from './previews/end.ts'
import {
  type AliasFilter,
  type AliasRecord,
  type AliasRow,
  countAliases,
  findAlias,
  findAliasOfProject,
  findAliasRecord,
  findFormerBasePath,
  findWayBack,
  listAliasesNamed,
  listAliasRecords,
  listHistory,
  listNamedMoves,
  type NamedMove,
} from './queries.ts'
import { removeAlias } from './remove.ts'

export type { AliasHosts } from '../domains/alias-hosts.ts'
export { changesSettings, checkAliasName, pointAlias } from './changes.ts'
export type { AliasChange, AliasView, HistoryView } from './model.ts'
export type { AliasRow, NamedMove } from './queries.ts'

const HISTORY_LIMIT = 1000

/** The record of one alias that the caller may see. For lists, `listAliases` makes all records at once. */
export function aliasView(ctx: Context, { id }: Pick<AliasRow, 'id'>): AliasView {
  const record = findAliasRecord(ctx.db.orm, id)
  if (record === undefined) throw noSuchAlias()
  return toView(ctx, record)
}

export const findAliasByName = (ctx: Context, projectId: string, name: string): AliasRow | undefined =>
  findAliasOfProject(ctx.db.orm, projectId, name)

/** The aliases `production` of the projects, by project id. */
export const productionAliases = (
  ctx: Context,
  projectIds: readonly string[],
): ReadonlyMap<string, Pick<AliasView, 'id' | 'isPublic'>> =>
  new Map(listAliasesNamed(ctx.db, projectIds, 'production').map((alias) => [alias.projectId, alias]))

/** The history of an alias that the caller was shown, without who moved it: for lists of many aliases. */
export const namedMovesOf = (ctx: Context, id: string): NamedMove[] =>
  listNamedMoves(ctx.db, id, HISTORY_LIMIT)

/** Whether it is an alias with an end. */
export const isPreview = (ctx: Context, id: string | undefined): boolean =>
  id !== undefined && (findAlias(ctx.db.orm, id)?.expiresAt ?? null) !== null

/** For routes that name an alias in the path. */
export const aboutAlias = (ctx: Context, id: string | undefined): { projectId: string | null } =>
  aboutRow(ctx, id, findAlias)

/** The aliases of the projects that the caller may read. */
export function listAliases(
  ctx: Context,
  grant: Grant,
  query: PaginationQuery & Omit<AliasFilter, 'projectIds'>,
): Paginated<AliasView> {
  const page = parsePagination(query, {
    sortable: ['createdAt', 'updatedAt', 'name'] as const,
    defaultSort: 'createdAt',
    defaultOrder: 'desc',
  })
  const { projectId, owner, repo, name } = withoutEmpty(query)
  const filter = { projectIds: readableProjectIds(ctx, grant), projectId, owner, repo, name }
  const data = listAliasRecords(ctx.db.orm, filter, page).map((record) => toView(ctx, record))
  return paginated(data, countAliases(ctx.db.orm, filter), page)
}

export const getAlias = (ctx: Context, grant: Grant, id: string): AliasView =>
  aliasView(ctx, requireAlias(ctx.db.orm, grant, id))

/** Throws 404 for an unknown deployment, 409 when the name is taken. Setting its options needs `alias:manage`. */
export function createAlias(ctx: Context, grant: Grant, input: NewAlias): AliasView {
  checkAliasName(input.name)
  const alias = inTransaction(ctx.db, (tx) => {
    endDuePreviewsIn(ctx, tx)
    const project = projectOf(ctx, grant, tx)
    const deployment = chooseDeployment(ctx, project.id, input)
    const { name } = input
    if (deployment === undefined) throw invalidChoice('deploymentId', 'Give deploymentId or commitSha')
    const pointing = {
      project,
      name,
      deployment,
      basePath: chooseFolder(ctx, deployment, input) ?? deployment.basePath,
      reason: 'create' as const,
    }
    const made = addAlias(ctx, tx, grant.actor, pointing, settingsOf(input))
    tellOfMove(ctx, tx, grant.actor, { before: undefined, after: made }, 'create')
    return made
  })
  return aliasView(ctx, alias)
}

/**
 * Moves the alias, changes its settings, or both, in one transaction. An alias that goes back to a deployment serves
 * the same folder as before. Only those who may unlock a locked alias can move it: 409 for others.
 */
export function changeAlias(ctx: Context, grant: Grant, id: string, change: AliasChange): AliasView {
  const isMove = change.deploymentId !== undefined || change.commitSha !== undefined
  const write = isMove ? inTidyingTransaction : inTransaction
  write(ctx.db, (tx) => {
    const alias = requireAlias(tx, grant, id)
    const deployment = chooseDeployment(ctx, alias.projectId, change)
    if (deployment === undefined && change.basePath !== undefined)
      throw invalidChoice('basePath', 'Give deploymentId or commitSha beside it')
    if (deployment !== undefined) {
      refuseLocked(ctx, grant, alias)
      const basePath =
        chooseFolder(ctx, deployment, change) ??
        findFormerBasePath(ctx.db, alias.id, deployment.id) ??
        deployment.basePath
      const moved = moveAlias(ctx, tx, grant.actor, alias, { deployment, basePath, reason: 'move' })
      tellOfMove(ctx, tx, grant.actor, { before: alias, after: moved }, 'move')
    }
    changeSettings(ctx, tx, grant.actor, alias, { ...settingsOf(change), ...newEndOf(ctx, change) })
  })
  return aliasView(ctx, { id })
}

/** Throws `invalid` for a time that has passed. contract 16 §2. */
function newEndOf(ctx: Context, { expiresAt }: AliasChange): { expiresAt?: number | null } {
  if (expiresAt === undefined || expiresAt === null) return expiresAt === null ? { expiresAt } : {}
  const at = requireTime('expiresAt', expiresAt)
  refusePassed(ctx, at)
  return { expiresAt: at }
}

export function refusePassed(ctx: Context, expiresAt: number): void {
  if (expiresAt <= ctx.now())
    throw invalidChoice('expiresAt', 'This time has passed: delete the alias to end it now')
}

/**
 * Moves the alias back to what it showed last that is another deployment and exists, with the folder of that time; so
 * twice in a row goes there and back again. `to` names one of those that it showed. 409 when there is none; locked as by
 * `changeAlias`. contract 16 §1.
 */
export function rollBackAlias(ctx: Context, grant: Grant, id: string, to: string | undefined): AliasView {
  inTidyingTransaction(ctx.db, (tx) => {
    const alias = requireAlias(tx, grant, id)
    if (to !== undefined) chooseDeployment(ctx, alias.projectId, { deploymentId: to })
    refuseLocked(ctx, grant, alias)
    const back = findWayBack(ctx.db, alias.id, alias.deploymentId, to ?? null)
    if (back === undefined) throw nothingToRollBackTo(alias, to)
    const { basePath, ...deployment } = back
    const moved = moveAlias(ctx, tx, grant.actor, alias, { deployment, basePath, reason: 'rollback' })
    tellOfMove(ctx, tx, grant.actor, { before: alias, after: moved }, 'rollback')
  })
  return aliasView(ctx, { id })
}

function nothingToRollBackTo({ name, deploymentId }: AliasRow, to: string | undefined): AppError {
  const message =
    to === undefined
      ? `The alias ${name} has shown no other deployment that still exists`
      : to === deploymentId
        ? `The alias ${name} shows this deployment already`
        : `The alias ${name} has never shown this deployment: move it there instead`
  return new AppError('conflict', message, { code: 'NOTHING_TO_ROLL_BACK_TO' })
}

/**
 * Throws 409 `ALIAS_IN_USE` naming the hosts that need it, which would answer 404. contract 12.9. A preview ends with what was
 * published as it.
 */
export function deleteAlias(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const alias = requireAlias(tx, grant, id)
    refuseInUse(ctx, alias)
    if (alias.expiresAt !== null) return endPreview(ctx, tx, grant.actor, alias, 'closed')
    removeAlias(ctx, tx, grant.actor, alias)
  })
}

/** The hosts for whose sake it cannot be deleted. */
export function aliasHosts(ctx: Context, grant: Grant, id: string): AliasHosts {
  const { projectId, name } = requireAlias(ctx.db.orm, grant, id)
  return hostsOfAlias(ctx.db, projectId, name)
}

/** Throws 409 `ALIAS_IN_USE` when a domain or a traffic split names it. */
export function refuseInUse(ctx: Context, { projectId, name }: AliasRow): void {
  const { mapped, split } = hostsOfAlias(ctx.db, projectId, name)
  if (mapped.length + split.length === 0) return
  const uses = [
    ...(mapped.length === 0 ? [] : [`mapped to it: ${mapped.join(', ')}`]),
    ...(split.length === 0 ? [] : [`named by the traffic split of: ${split.join(', ')}`]),
  ]
  throw new AppError(
    'conflict',
    `The alias ${name} is in use; ${uses.join('; ')}. Change these domains first.`,
    {
      code: 'ALIAS_IN_USE',
    },
  )
}

/** Where the alias pointed, newest first; the last 1000 moves. */
export function historyOf(ctx: Context, grant: Grant, id: string): HistoryView[] {
  const rows = listHistory(ctx.db.orm, requireAlias(ctx.db.orm, grant, id).id, HISTORY_LIMIT)
  const viewOf = actorViews(
    ctx.db.orm,
    rows.map(({ movedBy }) => movedBy),
  )
  return rows.map(
    ({ deploymentId, commitSha, version, number, title, movedBy, movedAt, reason, exists }) => ({
      deploymentId,
      commitSha,
      version,
      number,
      title,
      movedBy: viewOf(movedBy),
      movedAt: isoTime(movedAt),
      reason,
      exists,
    }),
  )
}

/** Undefined when no deployment is named. Throws 404 if it is not the project's, 400 if a short SHA matches several. */
/** The folder that a change names; undefined if it names none. Throws `invalid` where the deployment has no file in it. */
function chooseFolder(ctx: Context, { id }: PointedAt, { basePath }: AliasChange): string | undefined {
  if (basePath === undefined) return undefined
  const parsed = parseBasePath(basePath)
  if ('flaw' in parsed) throw invalidChoice('basePath', parsed.flaw)
  if (parsed.basePath !== '' && !hasFolder(ctx.db, id, parsed.basePath))
    throw invalidChoice('basePath', `The deployment has no file in ${parsed.basePath}/`)
  return parsed.basePath
}

function chooseDeployment(ctx: Context, projectId: string, choice: AliasChange): PointedAt | undefined {
  const { deploymentId, commitSha } = choice
  if (deploymentId !== undefined) {
    const found = findDeploymentOfProject(ctx.db, projectId, deploymentId)
    if (found === null) throw new AppError('not_found', 'The project has no such deployment')
    if (commitSha !== undefined && !found.commitSha.startsWith(commitSha.toLowerCase()))
      throw invalidChoice(
        'commitSha',
        'deploymentId and commitSha name different deployments: give one of them',
      )
    return found
  }
  if (commitSha === undefined) return undefined
  const sha = commitSha.toLowerCase()
  const [first, second] = findDeploymentsBySha(ctx.db, projectId, sha)
  if (first === undefined)
    throw new AppError('not_found', `The project has no deployment of the commit ${sha}`)
  if (second !== undefined && first.commitSha !== sha)
    throw invalidChoice('commitSha', `Several deployments begin with ${sha}: give more of the commit SHA`)
  return first
}

export function refuseLocked(ctx: Context, grant: Grant, alias: AliasRow): void {
  if (!alias.isLocked || grant.caller.actor.kind === 'operator') return
  if (mayDo(ctx, grant.caller, 'alias:manage', alias.projectId, false)) return
  throw new AppError(
    'conflict',
    `The alias ${alias.name} is locked. An admin of the project can move or unlock it.`,
  )
}

/** The alias, if it is of the project of the grant; else throws 404. */
export function requireAlias(db: DbOrTx, grant: Grant, id: string): AliasRow {
  const alias = within(grant, findAlias(db, id))
  if (alias === undefined) throw noSuchAlias()
  return alias
}

const noSuchAlias = () => new AppError('not_found', 'There is no such alias')

function toView(ctx: Context, record: AliasRecord): AliasView {
  const { label, basePath: _, expiresIn: __, expiresAt, createdAt, updatedAt, ...rest } = record
  const { pullRequest: number, pullRequestUrl: url, ...fields } = rest
  return {
    ...fields,
    isPreview: expiresAt !== null,
    expiresAt: isoTimeOrNull(expiresAt),
    pullRequest: number === null ? null : { number, url },
    url: ctx.siteUrl(`${label ?? ''}.${ctx.config.baseDomain}`),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}
