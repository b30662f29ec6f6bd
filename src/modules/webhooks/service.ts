import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { randomBytes } from '../../platform/random.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { checkEvents, checkHeaders, parseHookUrl } from './check.ts'
import type { HookChange, HookView, HookWithSecret, NewHook } from './model.ts'
import { failUnsent } from './outbox.ts'
import {
  countHooks,
  deleteHookRow,
  findHook,
  type HookPatch,
  type HookRow,
  insertHook,
  listHookRows,
  updateHook,
} from './queries.ts'
import { sealHeaders } from './seal-headers.ts'
import { originOfHook, sealPart } from './sealed.ts'
import { unsentTry } from './tries.ts'
import { auditView, hookView } from './view.ts'

export type { HookView } from './model.ts'

const MAX_HOOKS = 50

/** Those of the project of the grant; of the workspace, if it has none. */
export const listHooks = (ctx: Context, grant: Grant): HookView[] =>
  listHookRows(ctx.db.orm, grant.projectId).map((row) => hookView(ctx, row))

export const getHook = (ctx: Context, grant: Grant, id: string): HookView =>
  hookView(ctx, requireHook(ctx.db.orm, grant, id))

/** The hook, if it is of the project (or workspace) of the grant; else throws 404. */
export function requireHook(db: DbOrTx, grant: Grant, id: string | undefined): HookRow {
  const found = id === undefined ? undefined : findHook(db, id)
  if (found === undefined || found.projectId !== grant.projectId)
    throw new AppError('not_found', 'There is no such webhook')
  return found
}

/** Throws 400 for input that cannot be kept or a target that must not be reached, 409 `TOO_MANY_WEBHOOKS`. contract 16 §4. */
export async function createHook(ctx: Context, grant: Grant, input: NewHook): Promise<HookWithSecret> {
  const url = parseHookUrl(input.url)
  checkEvents(input.events)
  checkHeaders(input.headers ?? {})
  await checkTarget(ctx, url)
  const id = ctx.newId()
  const secret = input.secret ?? newSecret()
  const { secrets } = ctx
  const now = ctx.now()
  const row: HookRow = {
    id,
    projectId: grant.projectId,
    name: input.name?.trim() || url.hostname,
    kind: input.kind ?? 'json',
    events: JSON.stringify([...new Set(input.events)]),
    sealedUrl: sealPart(secrets, id, 'url', url.href),
    sealedHeaders: sealHeaders(secrets, id, input.headers ?? {}, {}),
    sealedSecret: sealPart(secrets, id, 'secret', secret),
    isEnabled: input.isEnabled ?? true,
    disabledReason: null,
    waiting: 0,
    createdAt: now,
    updatedAt: now,
  }
  inTransaction(ctx.db, (tx) => {
    manageAgain(ctx, grant)
    if (countHooks(tx, grant.projectId) >= MAX_HOOKS)
      throw new AppError('conflict', `There are ${MAX_HOOKS} webhooks already: delete one first`, {
        code: 'TOO_MANY_WEBHOOKS',
      })
    insertHook(tx, row)
    audit(ctx, tx, grant.actor, { ...aboutHook('webhook.create', row), after: auditView(ctx, row) })
  })
  return { ...hookView(ctx, row), secret }
}

/** A new origin drops the header values that are not given anew. Turned off, what waits fails. */
export async function changeHook(
  ctx: Context,
  grant: Grant,
  id: string,
  input: HookChange,
): Promise<HookView> {
  const change = given(input)
  const url = change.url === undefined ? undefined : parseHookUrl(change.url)
  if (change.events !== undefined) checkEvents(change.events)
  if (change.headers !== undefined) checkHeaders(change.headers)
  if (isEmpty(change)) return getHook(ctx, grant, id)
  if (url !== undefined) await checkTarget(ctx, url)
  inTransaction(ctx.db, (tx) => {
    manageAgain(ctx, grant)
    const before = requireHook(tx, grant, id)
    const patch = patchOf(ctx, before, change, url)
    updateHook(tx, id, patch)
    if (patch.isEnabled === false) endWaiting(ctx, id)
    const after = { ...before, ...patch }
    audit(ctx, tx, grant.actor, {
      ...aboutHook('webhook.change', after),
      before: auditView(ctx, before),
      after: auditView(ctx, after),
    })
  })
  return getHook(ctx, grant, id)
}

function patchOf(
  ctx: Context,
  before: HookRow,
  change: ReturnType<typeof given<HookChange>>,
  url: URL | undefined,
): HookPatch {
  const { secrets } = ctx
  const isElsewhere = url !== undefined && url.origin !== originOfHook(secrets, before)
  const stored = isElsewhere ? {} : (JSON.parse(before.sealedHeaders) as Record<string, string>)
  const { name, kind, events, headers, secret, isEnabled } = change
  return {
    updatedAt: ctx.now(),
    ...(name === undefined ? {} : { name: name.trim() || before.name }),
    ...(kind === undefined ? {} : { kind }),
    ...(events === undefined ? {} : { events: JSON.stringify([...new Set(events)]) }),
    ...(url === undefined ? {} : { sealedUrl: sealPart(secrets, before.id, 'url', url.href) }),
    ...(headers === undefined
      ? isElsewhere && { sealedHeaders: '{}' }
      : { sealedHeaders: sealHeaders(secrets, before.id, headers, stored, isElsewhere) }),
    ...(secret === undefined ? {} : { sealedSecret: sealPart(secrets, before.id, 'secret', secret) }),
    ...(isEnabled === undefined ? {} : { isEnabled, disabledReason: null }),
  }
}

/** What was not sent is not sent any more. */
export function deleteHook(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const row = requireHook(tx, grant, id)
    deleteHookRow(tx, id)
    audit(ctx, tx, grant.actor, { ...aboutHook('webhook.delete', row), before: auditView(ctx, row) })
  })
}

/** The hook with its new secret, which is shown only here. */
export function rotateHookSecret(ctx: Context, grant: Grant, id: string): HookWithSecret {
  const secret = newSecret()
  inTransaction(ctx.db, (tx) => {
    const row = requireHook(tx, grant, id)
    updateHook(tx, id, { sealedSecret: sealPart(ctx.secrets, id, 'secret', secret), updatedAt: ctx.now() })
    audit(ctx, tx, grant.actor, aboutHook('webhook.rotate-secret', row))
  })
  return { ...getHook(ctx, grant, id), secret }
}

/** Fails what waits for a hook that is turned off. */
export const endWaiting = (ctx: Context, id: string): void =>
  void failUnsent(ctx.db, 'hook_id = ?', id, unsentTry(ctx.now(), 'turned off'))

/** Once more: the network was asked meanwhile. */
const manageAgain = (ctx: Context, grant: Grant): void =>
  void authorizeAgain(ctx, grant, grant.projectId === null ? 'workspace:administer' : 'webhook:manage')

/** The rules of proxy targets, and `http://` where the operator names the target. contract §8, 16 §4. */
const checkTarget = (ctx: Context, url: URL): Promise<void> =>
  ctx.outbound.checkTarget(url, { mayBePlainIfNamed: true })

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

export const aboutHook = (action: string, { id, name, projectId }: HookRow) => ({
  action,
  target: { kind: 'webhook', id, name },
  projectId,
})
