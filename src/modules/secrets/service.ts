import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { Grant } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { type DisabledRule, switchOffUsers } from '../proxy-rules/secret-users.ts'
import type { SecretView, UsableBy } from './model.ts'
import { deleteSecretRow, findSealedSecret, listSecretRows, upsertSecret } from './queries.ts'
import { sealContext } from './seal-context.ts'

export type { DisabledRule } from '../proxy-rules/secret-users.ts'
export type { SecretView, UsableBy } from './model.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/
const NAME_RULE =
  'The name of a secret has 1 to 100 letters, digits and underscores and does not begin with a digit'
const MAX_VALUE_BYTES = 64 * 1024

export function listSecrets(ctx: Context, grant: Grant): SecretView[] {
  return listSecretRows(ctx.db.orm, projectOf(ctx, grant).id).map(({ name, usableBy, updatedAt }) => ({
    name,
    usableBy,
    updatedAt: isoTime(updatedAt),
  }))
}

/**
 * Stores the value, replacing that of an existing secret of the name. Without `usableBy` it stays as it is, for a new one
 * `contributor`. Returns the rules that were switched off because they may not use it any more.
 */
export function putSecret(
  ctx: Context,
  grant: Grant,
  name: string,
  value: string,
  usableBy?: UsableBy,
): DisabledRule[] {
  if (!NAME.test(name))
    throw new AppError('invalid', NAME_RULE, { details: [{ path: 'name', message: NAME_RULE }] })
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
    throw new AppError('invalid', `value: at most ${MAX_VALUE_BYTES} bytes`, {
      details: [{ path: 'value', message: `At most ${MAX_VALUE_BYTES} bytes` }],
    })
  return inTransaction(ctx.db, (tx) => {
    const { id } = projectOf(ctx, grant, tx)
    const before = listSecretRows(tx, id).find((one) => one.name === name)?.usableBy
    const after = usableBy ?? before ?? 'contributor'
    const sealedValue = ctx.secrets.seal(value, sealContext(id, name))
    upsertSecret(tx, { projectId: id, name, sealedValue, updatedAt: ctx.now(), usableBy: after })
    const disabled = after === 'admin' && before !== after ? switchOffUsers(ctx, tx, grant, id, name) : []
    audit(ctx, tx, grant.actor, {
      action: 'secret.put',
      ...subject(id, name),
      before: before && { usableBy: before },
      after: { usableBy: after, disabledRules: disabled.map((rule) => rule.id) },
    })
    return disabled
  })
}

export function deleteSecret(ctx: Context, grant: Grant, name: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const { id } = projectOf(ctx, grant, tx)
    if (!deleteSecretRow(tx, id, name))
      throw new AppError('not_found', 'The project has no secret of that name')
    audit(ctx, tx, grant.actor, { action: 'secret.delete', ...subject(id, name) })
  })
}

/** The value, only for pipelines of that project; undefined if there is none. */
export function openSecret(ctx: Context, projectId: string, name: string): string | undefined {
  const sealed = findSealedSecret(ctx.db.orm, projectId, name)
  return sealed === undefined ? undefined : ctx.secrets.open(sealed, sealContext(projectId, name))
}

/** The names of a project's secrets. */
export const secretNamesOf = (db: DbOrTx, projectId: string): ReadonlySet<string> =>
  new Set(listSecretRows(db, projectId).map(({ name }) => name))

/** The names of those that only rules of project admins can use. */
export const adminSecretNames = (db: DbOrTx, projectId: string): ReadonlySet<string> =>
  new Set(listSecretRows(db, projectId).flatMap(({ name, usableBy }) => (usableBy === 'admin' ? [name] : [])))

const subject = (projectId: string, name: string) => ({
  target: { kind: 'secret', id: name, name },
  projectId,
})
