import type { Context } from '../../context.ts'
import { actorViews } from '../../db/actor-names.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { encodePath } from '../../domain/asset-path.ts'
import { type Named, parseDeploymentNumber } from '../../domain/deployment-name.ts'
import { AppError, invalidChoice } from '../../domain/errors.ts'
import { withoutEmpty } from '../../domain/given.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { toNfc } from '../../domain/nfc.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { isRoutingFile } from '../../domain/routing/compile.ts'
import { listAliasesOf, listLabelsOf } from '../aliases/host-labels.ts'
import { aboutRow, type Grant, within } from '../auth/authorize.ts'
import { readableProjectIds } from '../projects/service.ts'
import type { AssetView, DeploymentView, FileView } from './model.ts'
import {
  type AssetRow,
  countAssets,
  countDeployments,
  type DeploymentFilter,
  type DeploymentRecord,
  type DeploymentRow,
  deleteAssetRow,
  findAsset,
  findDeployment,
  findDeploymentByNumber,
  findDeploymentRecord,
  listAssets,
  listDeploymentRecords,
  listNames,
  recountDeployment,
} from './queries.ts'
import { removeDeployment } from './remove.ts'
import { recompileRouting } from './routing/compile.ts'
import { typeOfFile } from './traits.ts'

export type { AssetView, DeploymentView } from './model.ts'
export type { DeploymentRow, PointedAt } from './queries.ts'
export {
  findDeployment,
  findDeploymentOfProject,
  findDeploymentsBySha,
  findVersionOf,
  hasFolder,
} from './queries.ts'

type DeploymentQuery = PaginationQuery &
  Omit<DeploymentFilter, 'projectIds' | 'number'> & { number?: string | undefined }

/** The deployments of the projects that the caller may read. `invalid` for a `commitSha` of less than 7 digits. */
export function listDeployments(
  ctx: Context,
  grant: Grant,
  query: DeploymentQuery,
): Paginated<DeploymentView> {
  const page = parsePagination(query, {
    sortable: ['createdAt', 'commitSha', 'number'] as const,
    defaultSort: 'createdAt',
    defaultOrder: 'desc',
  })
  const { projectId, owner, repo, branch, alias, q, ...others } = withoutEmpty(query)
  const commitSha = others.commitSha?.toLowerCase()
  const number = others.number === undefined ? undefined : Number(others.number)
  if (number !== undefined && projectId === undefined && (owner === undefined || repo === undefined))
    throw invalidChoice('number', 'A number is one of a project: give projectId, or owner and repo, too')
  const projectIds = readableProjectIds(ctx, grant)
  const filter = { projectIds, projectId, owner, repo, branch, commitSha, alias, number, q }
  const records = listDeploymentRecords(ctx.db.orm, filter, page)
  return paginated(viewsOf(ctx, records), countDeployments(ctx.db.orm, filter), page)
}

/** Throws 404 when it is gone. */
export const getDeployment = (ctx: Context, grant: Grant, id: string): DeploymentView =>
  deploymentView(ctx, requireDeployment(ctx.db.orm, grant, id))

/** The one of the project of the grant with this number. Throws 404 where there is none, also for what is no number. */
export function getDeploymentByNumber(ctx: Context, grant: Grant, text: string): DeploymentView {
  const id = findNumbered(ctx, grant.projectId ?? '', text)
  if (id === undefined) throw noSuchDeployment()
  return deploymentView(ctx, { id })
}

/** Its id. */
export function findNumbered(ctx: Context, projectId: string, text: string): string | undefined {
  const number = parseDeploymentNumber(text)
  return number === undefined ? undefined : findDeploymentByNumber(ctx.db.orm, projectId, number)?.id
}

/** What deployments that were named already are called, by id; those that are gone have no name. */
export const deploymentNames = (ctx: Context, ids: readonly string[]): ReadonlyMap<string, Named> =>
  new Map(listNames(ctx.db, ids).map((one) => [one.id, one]))

/** The deployment, if it is of the project of the grant; else throws 404. */
export function requireDeployment(db: DbOrTx, grant: Grant, id: string): DeploymentRow {
  const deployment = within(grant, findDeployment(db, id))
  if (deployment === undefined) throw noSuchDeployment()
  return deployment
}

/** The record of a deployment that the caller is known to be allowed to see, with the aliases that point at it now. */
export function deploymentView(ctx: Context, { id }: Pick<DeploymentRow, 'id'>): DeploymentView {
  const record = findDeploymentRecord(ctx.db.orm, id)
  const [view] = record === undefined ? [] : viewsOf(ctx, [record])
  if (view === undefined) throw noSuchDeployment()
  return view
}

export function listFiles(
  ctx: Context,
  grant: Grant,
  id: string,
  query: PaginationQuery & { prefix?: string | undefined },
): Paginated<FileView> {
  const page = parsePagination(query, {
    sortable: ['path', 'size'] as const,
    defaultSort: 'path',
    defaultOrder: 'asc',
  })
  const deployment = within(grant, findDeploymentRecord(ctx.db.orm, id))
  if (deployment === undefined) throw noSuchDeployment()
  const prefix = toNfc((query.prefix ?? '').replace(/^\//, ''))
  const data = listAssets(ctx.db.orm, id, prefix, page).map((asset) => ({
    path: asset.path,
    size: asset.sizeBytes,
    mimeType: typeOfFile(ctx, asset),
    sha256: asset.sha256,
    url: `${ctx.adminUrl()}${shaPath(deployment)}${encodePath(asset.path)}`,
  }))
  return paginated(data, countAssets(ctx.db.orm, id, prefix), page)
}

/** That version alone. Throws 409 naming the aliases that point at it. Contents that nothing else refers to are freed in an hour. */
export function deleteDeployment(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    requireDeployment(tx, grant, id)
    const names = listAliasesOf(tx, [id]).map(({ name }) => name)
    if (names.length > 0)
      throw new AppError('conflict', `Move or delete the aliases that point at it first: ${names.join(', ')}`)
    removeDeployment(ctx, tx, grant.actor, id)
  })
}

/** For routes that name a deployment in the path. */
export const aboutDeployment = (ctx: Context, id: string | undefined): { projectId: string | null } =>
  aboutRow(ctx, id, findDeployment)

/** For routes that name an asset in the path. */
export function aboutAsset(ctx: Context, id: string | undefined): { projectId: string | null } {
  return aboutDeployment(ctx, id === undefined ? undefined : findAsset(ctx.db.orm, id)?.deploymentId)
}

/** Throws 404 when it is gone. */
export function getAsset(ctx: Context, grant: Grant, id: string): AssetView {
  const asset = findAsset(ctx.db.orm, id)
  const deployment = asset && within(grant, findDeploymentRecord(ctx.db.orm, asset.deploymentId))
  if (asset === undefined || deployment === undefined) throw noSuchAsset()
  return assetView(ctx, asset, deployment)
}

/** Removes the file from its version, live or not, so that a leak can be taken down at once. */
export function deleteAsset(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const asset = findAsset(tx, id)
    if (asset === undefined || within(grant, findDeployment(tx, asset.deploymentId)) === undefined)
      throw noSuchAsset()
    deleteAssetRow(tx, id)
    recountDeployment(tx, asset.deploymentId, ctx.now())
    if (isRoutingFile(asset.path)) recompileRouting(ctx, asset.deploymentId)
    audit(ctx, tx, grant.actor, {
      action: 'asset.delete',
      target: { kind: 'asset', id, name: asset.path },
      projectId: grant.projectId,
      before: asset,
    })
  })
}

/** The spec's record of a file in the deployment `owner/repo` at `commitSha`. */
export function assetView(
  ctx: Context,
  asset: Pick<AssetRow, 'id' | 'path' | 'sha256' | 'sizeBytes'>,
  deployment: { owner: string; repo: string; commitSha: string },
): AssetView {
  const { owner, repo, commitSha } = deployment
  return {
    id: asset.id,
    fileName: asset.path,
    storageKey: `${owner}/${repo}/${commitSha}/${asset.path}`,
    mimeType: typeOfFile(ctx, asset),
    size: asset.sizeBytes,
    url: `${shaPath(deployment)}${encodePath(asset.path)}`,
  }
}

/** A page of records, with one query each for their aliases, hosts and makers. */
function viewsOf(ctx: Context, records: readonly DeploymentRecord[]): DeploymentView[] {
  const ids = records.map(({ id }) => id)
  const aliases = Map.groupBy(listAliasesOf(ctx.db.orm, ids), ({ deploymentId }) => deploymentId)
  const labels = new Map(listLabelsOf(ctx.db, ids).map((found) => [found.deploymentId, found]))
  const makerOf = actorViews(
    ctx.db.orm,
    records.map(({ createdBy }) => createdBy),
  )
  const hostUrl = (label: string) => ctx.siteUrl(`${label}.${ctx.config.baseDomain}`)
  return records.map((record) => {
    const pointing = aliases.get(record.id) ?? []
    const aliasLabel = pointing[0]?.label
    const { shaLabel, versionLabel, isLatest } = labels.get(record.id) ?? {}
    return {
      ...publicFields(record),
      isLatest: isLatest ?? false,
      aliases: pointing.map(({ name }) => name),
      urls: {
        sha: `${ctx.adminUrl()}${shaPath(record)}`,
        preview: hostUrl(shaLabel ?? ''),
        version: hostUrl(versionLabel ?? ''),
        alias: aliasLabel ? hostUrl(aliasLabel) : null,
      },
      createdBy: makerOf(record.createdBy),
      createdAt: isoTime(record.createdAt),
      updatedAt: isoTime(record.updatedAt),
    }
  })
}

function publicFields(record: DeploymentRecord) {
  const { id, projectId, owner, repo, number, title, commitSha, version, baseSha, branch, description } =
    record
  const { workflowName, workflowRunId, fileCount, totalSize, preview } = record
  return {
    id,
    projectId,
    owner,
    repo,
    number,
    title,
    commitSha,
    version,
    baseSha,
    branch,
    description,
    workflowName,
    workflowRunId,
    fileCount,
    totalSize,
    preview,
  }
}

/** The path form of the address, with its `/` at the end. */
const shaPath = ({ owner, repo, commitSha }: { owner: string; repo: string; commitSha: string }): string =>
  `/repo/${owner}/${repo}/${commitSha}/`

const noSuchDeployment = () => new AppError('not_found', 'There is no such deployment')
const noSuchAsset = () => new AppError('not_found', 'There is no such asset')
