import type { Context } from '../../../context.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { AppError } from '../../../domain/errors.ts'
import { type AliasRow, findAliasOfProject } from '../queries.ts'
import { findPreviewDays, recordPublished } from './queries.ts'

/** What an upload says of the preview that it publishes; null where it says nothing. */
export type PreviewOrder = {
  /** It named a preview, so an alias without an end is not meant. */
  isNamed: boolean
  /** Milliseconds. */
  expiresIn: number | null
  pullRequest: number | null
  pullRequestUrl: string | null
}

/** An upload that names no preview. */
export const NO_PREVIEW: PreviewOrder = {
  isNamed: false,
  expiresIn: null,
  pullRequest: null,
  pullRequestUrl: null,
}

/** The columns of an alias that make it a preview. */
export type End = Pick<AliasRow, 'expiresAt' | 'expiresIn' | 'pullRequest' | 'pullRequestUrl'>

/** The alias that an upload points somewhere, if it exists. Throws 409 for one without an end if a preview is meant. */
export function previewOf(
  db: DbOrTx,
  projectId: string,
  name: string,
  { isNamed }: Pick<PreviewOrder, 'isNamed'>,
): AliasRow | undefined {
  const alias = findAliasOfProject(db, projectId, name)
  if (isNamed && alias !== undefined) refuseNoPreview(alias)
  return alias
}

export function refuseNoPreview({ name, expiresAt }: AliasRow): void {
  if (expiresAt !== null) return
  const message = `The alias ${name} is no preview: it has no end`
  throw new AppError('conflict', message, { code: 'ALIAS_IS_NOT_A_PREVIEW' })
}

/** What was published as a preview goes with it, by its id: another version of the commit may stay. */
export const publishedAs = (ctx: Context, preview: AliasRow, deploymentId: string): void =>
  recordPublished(ctx.db, preview.id, deploymentId, ctx.now())

/**
 * With each publish the time of a preview begins anew: as long as this upload says, else the last that said something,
 * else the project. Null for an alias that is none.
 */
export function endOfPublish(
  ctx: Context,
  projectId: string,
  before: AliasRow | undefined,
  order: PreviewOrder,
): End | null {
  if (before === undefined ? !order.isNamed : before.expiresAt === null) return null
  const expiresIn = order.expiresIn ?? before?.expiresIn ?? null
  return {
    expiresAt: ctx.now() + (expiresIn ?? findPreviewDays(ctx.db, projectId) * DAY_MS),
    expiresIn,
    ...pullRequestOf(before, order),
  }
}

/** An address belongs to its number. */
function pullRequestOf(before: AliasRow | undefined, order: PreviewOrder) {
  const { pullRequest, pullRequestUrl } = order
  if (pullRequest === null)
    return { pullRequest: before?.pullRequest ?? null, pullRequestUrl: before?.pullRequestUrl ?? null }
  const isSame = before?.pullRequest === pullRequest
  return { pullRequest, pullRequestUrl: pullRequestUrl ?? (isSame ? before.pullRequestUrl : null) }
}
