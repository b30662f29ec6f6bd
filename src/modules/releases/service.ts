import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError } from '../../domain/errors.ts'
import { NO_CHECKS, type ReleaseChecks, readReleaseChecks } from '../../domain/release-checks.ts'
import type { Grant } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { deleteProjectChecks, findProjectChecks, putProjectChecks } from './queries.ts'

/** What is checked before an alias of the project moves. */
export const getReleaseChecks = (ctx: Context, grant: Grant): ReleaseChecks =>
  findProjectChecks(ctx.db, projectOf(ctx, grant).id) ?? NO_CHECKS

/** Replaces it. Throws `invalid` with everything that is wrong. */
export function setReleaseChecks(ctx: Context, grant: Grant, body: unknown): ReleaseChecks {
  const { checks, faults } = readReleaseChecks(body)
  const details = faults.map(({ path, message }) => ({ path: placeOf(path), message }))
  const [first] = details
  if (first !== undefined)
    throw new AppError('invalid', `${first.path || 'The body'}: ${first.message}`, { details })
  inTransaction(ctx.db, (tx) => putReleaseChecks(ctx, tx, grant, checks))
  return checks
}

/** The same in the caller's transaction, for checks that were read before. */
export function putReleaseChecks(ctx: Context, tx: DbOrTx, grant: Grant, checks: ReleaseChecks): void {
  const { id } = projectOf(ctx, grant, tx)
  const before = findProjectChecks(ctx.db, id) ?? NO_CHECKS
  putProjectChecks(ctx.db, id, checks)
  tellAudit(ctx, tx, grant, 'release_checks.set', { before, after: checks })
}

export function removeReleaseChecks(ctx: Context, grant: Grant): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const { id } = projectOf(ctx, grant, tx)
    const before = findProjectChecks(ctx.db, id) ?? NO_CHECKS
    deleteProjectChecks(ctx.db, id)
    tellAudit(ctx, tx, grant, 'release_checks.delete', { before })
  })
}

function tellAudit(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  action: 'release_checks.set' | 'release_checks.delete',
  change: { before: ReleaseChecks; after?: ReleaseChecks },
): void {
  const { id, owner, name } = projectOf(ctx, grant, tx)
  const after = change.after ?? NO_CHECKS
  audit(ctx, tx, grant.actor, {
    action,
    target: { kind: 'project', id, name: `${owner}/${name}` },
    projectId: id,
    ...change,
    undo: differingFields(change.before, after) && { before: change.before, after },
  })
}

/** `checks[0].path`. */
const placeOf = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : `${text}${text === '' ? '' : '.'}${step}`,
    '',
  )
