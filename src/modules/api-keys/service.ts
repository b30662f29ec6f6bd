import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { Actor } from '../../domain/actor.ts'
import { AppError, invalidChoice, invalidField } from '../../domain/errors.ts'
import { requireTime } from '../../domain/iso-time.ts'
import { isTitle } from '../../domain/names.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { apiKeyPrefix, hashToken, newApiKey } from '../../platform/tokens.ts'
import type { Grant } from '../auth/authorize.ts'
import { aboutProjectName, findProjectById } from '../projects/service.ts'
import type { ApiKeyView, NewApiKey } from './model.ts'
import { type ApiKey, deleteKeyRow, findKey, insertKey, selectKeys } from './queries.ts'
import { subject, toView } from './view.ts'

export type { ApiKeyView, NewApiKey } from './model.ts'
export { SUSPENSION_WORDS } from './suspended.ts'
export { keysOfMaker, suspendedKeys, takeOverKey } from './take-over.ts'

export function listKeys(
  ctx: Context,
  _grant: Grant,
  query: PaginationQuery & { projectId?: string | undefined },
): Paginated<ApiKeyView> {
  const page = parsePagination(query, {
    sortable: ['createdAt', 'name', 'lastUsedAt'] as const,
    defaultSort: 'createdAt',
    defaultOrder: 'desc',
  })
  const { rows, total } = selectKeys(ctx.db.orm, query.projectId || undefined, page)
  return paginated(rows.map(toView), total, page)
}

/** Makes a key for one project or, with `isGlobal`, for all. Only this response contains the key. */
export function createKey(ctx: Context, grant: Grant, input: NewApiKey): { apiKey: ApiKeyView; key: string } {
  const projectId = scopeOf(ctx, input)
  return addKey(ctx, grant.actor, { name: input.name, projectId, expiresAt: expiryOf(ctx, input.expiresAt) })
}

/** A key made with access to the data directory; global without a repository (`owner/repo`). Returns the key. */
export function createOperatorKey(ctx: Context, input: { name: string; repository: string | null }): string {
  const name = input.name.trim()
  if (!isTitle(name) || name.length > 100)
    throw new AppError('invalid', 'The name of a key must have 1 to 100 characters on one line')
  const projectId = input.repository === null ? null : idOfRepository(ctx, input.repository)
  return addKey(ctx, { kind: 'operator' }, { name, projectId, expiresAt: null }).key
}

/** Ends the key at once. */
export function revokeKey(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const key = findKey(tx, id)
    if (key === undefined) throw new AppError('not_found', 'There is no such API key')
    deleteKeyRow(tx, id)
    audit(ctx, tx, grant.actor, { action: 'api-key.revoke', ...subject(key), before: toView(key) })
  })
}

function addKey(
  ctx: Context,
  actor: Actor,
  { name, projectId, expiresAt }: { name: string; projectId: string | null; expiresAt: number | null },
): { apiKey: ApiKeyView; key: string } {
  const key = newApiKey()
  const row: ApiKey = {
    id: ctx.newId(),
    name: name.trim(),
    prefix: apiKeyPrefix(key),
    tokenHash: hashToken(key),
    projectId,
    isGlobal: projectId === null,
    createdBy: actor.kind === 'user' ? actor.user.id : null,
    createdAt: ctx.now(),
    expiresAt,
    lastUsedAt: null,
    suspendedAt: null,
    suspendedReason: null,
  }
  inTransaction(ctx.db, (tx) => {
    insertKey(tx, row)
    audit(ctx, tx, actor, { action: 'api-key.create', ...subject(row), after: toView(row) })
  })
  return { apiKey: toView(row), key }
}

/** The named project, or null for a global key. Throws 400 for neither or both, 404 for an unknown project. */
function scopeOf(ctx: Context, { projectId, repository, isGlobal }: NewApiKey): string | null {
  const isNamed = (projectId ?? repository ?? null) !== null
  if (isNamed && isGlobal === true)
    throw invalidChoice('isGlobal', 'A key is for one project or global, not both: leave one out')
  if (isGlobal === true) return null
  if (!isNamed)
    throw invalidChoice('projectId', 'Name the project (projectId or repository), or set isGlobal')
  const ids = [
    ...(projectId == null ? [] : [idOfProject(ctx, projectId)]),
    ...(repository == null ? [] : [idOfRepository(ctx, repository)]),
  ]
  if (new Set(ids).size > 1)
    throw invalidChoice('repository', 'projectId and repository name different projects: leave one out')
  return ids[0] ?? null
}

function idOfProject(ctx: Context, id: string): string {
  const project = findProjectById(ctx, id)
  if (project === undefined) throw new AppError('not_found', 'There is no such project')
  return project.id
}

function idOfRepository(ctx: Context, repository: string): string {
  const [owner, name, ...rest] = repository.split('/')
  if (!owner || !name || rest.length > 0)
    throw invalidChoice('repository', `"${repository}" is not of the form owner/repo`)
  const { projectId } = aboutProjectName(ctx, owner, name)
  if (projectId === null)
    throw new AppError(
      'not_found',
      `There is no project ${repository}: make it in the admin, or publish to it with a key for all projects`,
    )
  return projectId
}

/** Milliseconds; null for never. */
function expiryOf(ctx: Context, text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null
  const at = requireTime('expiresAt', text)
  if (at > ctx.now()) return at
  throw invalidField('expiresAt', 'Must be a time in the future')
}
