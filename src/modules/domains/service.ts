import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction, refuseTaken } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { knownAddresses } from '../../platform/own-addresses.ts'
import { newToken } from '../../platform/tokens.ts'
import { findAliasByName } from '../aliases/service.ts'
import { aboutRow, authorize, authorizeAgain, type Grant, within } from '../auth/authorize.ts'
import { readableProjectIds } from '../projects/service.ts'
import { findTrafficOf, type TrafficRow } from '../traffic/stored.ts'
import { tellHooks } from '../webhooks/outbox.ts'
import { claimError, contestedText, isContested, refuseHeld, refuseLost, settledProof } from './claims.ts'
import { isBelowBase, parseHostname, parsePathPrefix, parseRedirect, refuseReserved } from './hostname.ts'
import type { DomainChange, DomainView, NewDomain } from './model.ts'
import { challengeUrlOf, findProof, type Proof, txtNameOf } from './proof.ts'
import {
  countDomains,
  type DomainFilter,
  type DomainPatch,
  type DomainRow,
  deleteDomainRow,
  findDomain,
  insertDomain,
  listDomainRows,
  updateDomain,
} from './queries.ts'

/** All of a domain, so that it can come back. */
export type RemovedDomain = { domain: DomainRow; traffic: TrafficRow | null }

export { hostsShowing } from './alias-hosts.ts'
export { removeOldClaims } from './claims.ts'
export type { DomainChange, DomainView } from './model.ts'
export type { DomainRow } from './queries.ts'

/** The domains of the projects that the caller may read. */
export function listDomains(
  ctx: Context,
  grant: Grant,
  query: PaginationQuery & Omit<DomainFilter, 'projectIds'>,
): Paginated<DomainView> {
  const page = parsePagination(query, {
    sortable: ['createdAt', 'hostname'] as const,
    defaultSort: 'createdAt',
    defaultOrder: 'desc',
  })
  const { projectId, hostname } = query
  const filter = { projectIds: readableProjectIds(ctx, grant), projectId, hostname }
  const rows = listDomainRows(ctx.db.orm, filter, page)
  return paginated(
    rows.map((row) => toView(ctx, row)),
    countDomains(ctx.db.orm, filter),
    page,
  )
}

export const getDomain = (ctx: Context, grant: Grant, id: string): DomainView =>
  toView(ctx, requireDomain(ctx.db.orm, grant, id))

/** Throws 409 for a host that is held or reserved, or that the project claims already, 404 for an alias that the project does not have. */
export function createDomain(ctx: Context, grant: Grant, input: NewDomain): DomainView {
  const hostname = parseHostname(input.hostname)
  const { projectId } = grant
  if (projectId === null) throw new AppError('not_found', 'There is no such project')
  const now = ctx.now()
  const domain: DomainRow = {
    id: ctx.newId(),
    projectId,
    hostname,
    alias: '',
    pathPrefix: '',
    isPublic: null,
    isSpa: null,
    requiredRole: null,
    redirectTo: null,
    challenge: newToken(),
    verifiedBy: isBelowBase(ctx, hostname) ? 'base_domain' : null,
    verifiedAt: isBelowBase(ctx, hostname) ? now : null,
    createdAt: now,
    updatedAt: now,
    checkedAt: null,
    checkError: null,
  }
  const made = { ...domain, ...patchOf(ctx, grant, domain, input) }
  inTransaction(ctx.db, (tx) => {
    refuseReserved(ctx, tx, hostname)
    refuseHeld(ctx, tx, hostname)
    refuseTaken(`${hostname} is already mapped`, () => insertDomain(tx, made))
    audit(ctx, tx, grant.actor, { ...aboutChange('domain.create', made), after: made, undo: made })
    if (made.verifiedAt !== null) tellVerified(ctx, tx, grant, made)
  })
  ctx.certificates.hostsChanged()
  return toView(ctx, made)
}

export function changeDomain(ctx: Context, grant: Grant, id: string, change: DomainChange): DomainView {
  if (isEmpty(given(change))) return getDomain(ctx, grant, id)
  inTransaction(ctx.db, (tx) => {
    const before = requireDomain(tx, grant, id)
    const patch = patchOf(ctx, grant, before, change)
    if (patch.verifiedAt !== undefined) refuseLost(tx, before)
    updateDomain(tx, id, { ...patch, updatedAt: ctx.now() })
    audit(ctx, tx, grant.actor, {
      ...aboutChange('domain.change', before),
      before: Object.fromEntries(Object.keys(patch).map((key) => [key, before[key as keyof DomainRow]])),
      after: patch,
      undo: differingFields(before, patch),
    })
    if (patch.verifiedAt !== undefined) tellVerified(ctx, tx, grant, { ...before, ...patch })
  })
  ctx.certificates.hostsChanged()
  return getDomain(ctx, grant, id)
}

/** For changes of what the domain shows that are not in its own row. */
export const touchDomain = (ctx: Context, tx: DbOrTx, id: string): void =>
  updateDomain(tx, id, { updatedAt: ctx.now() })

export function deleteDomain(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    removeDomain(ctx, tx, grant, requireDomain(tx, grant, id))
  })
  ctx.certificates.hostsChanged()
}

/** The same in the caller's transaction. */
export function removeDomain(ctx: Context, tx: DbOrTx, grant: Grant, domain: DomainRow): void {
  const undo: RemovedDomain = { domain, traffic: findTrafficOf(tx, domain.id) ?? null }
  deleteDomainRow(tx, domain.id)
  audit(ctx, tx, grant.actor, { ...aboutChange('domain.delete', domain), before: domain, undo })
}

/**
 * Looks for the proof now. If there is none, the record says what was looked for (`verification.error`). A host that
 * was proven before stays proven. The first proof of a host wins: throws 409 for the other claims.
 */
export async function verifyDomain(
  ctx: Context,
  grant: Grant,
  id: string,
  options: { verified?: boolean | undefined },
): Promise<DomainView> {
  const domain = requireDomain(ctx.db.orm, grant, id)
  if (options.verified === true) return changeDomain(ctx, grant, id, { verified: true })
  if (domain.verifiedAt !== null) return toView(ctx, domain)
  refuseLost(ctx.db.orm, domain)
  const whyOnlyTxt = isContested(ctx.db.orm, domain) ? contestedText(domain) : null
  const proof = await findProof(ctx, domain, whyOnlyTxt)
  inTransaction(ctx.db, (tx) => {
    authorizeAgain(ctx, grant, 'domain:manage')
    settle(ctx, tx, grant, id, proof)
  })
  if (proof.by !== null) ctx.certificates.hostsChanged()
  return getDomain(ctx, grant, id)
}

/** Writes the result of a check, unless the claim lost or was proven meanwhile. */
function settle(ctx: Context, tx: DbOrTx, grant: Grant, id: string, found: Proof): void {
  const domain = requireDomain(tx, grant, id)
  if (domain.verifiedAt !== null) return
  refuseLost(tx, domain)
  const proof = settledProof(tx, domain, found)
  const checkedAt = ctx.now()
  const { by } = proof
  if (by === null) {
    updateDomain(tx, id, { checkedAt, checkError: proof.reason })
    return
  }
  updateDomain(tx, id, {
    verifiedBy: by,
    verifiedAt: checkedAt,
    updatedAt: checkedAt,
    checkedAt,
    checkError: null,
  })
  audit(ctx, tx, grant.actor, { ...aboutChange('domain.verify', domain), after: { by } })
  tellVerified(ctx, tx, grant, requireDomain(tx, grant, id))
}

/** The value of its proof is nobody else's to know. */
export const tellVerified = (ctx: Context, tx: DbOrTx, { actor }: Grant, domain: DomainRow): void =>
  tellHooks(ctx, tx, {
    event: 'domain.verified',
    actor,
    projectId: domain.projectId,
    data() {
      const view = toView(ctx, domain)
      return { domain: { ...view, verification: { ...view.verification, value: null, url: null } } }
    },
  })

/**
 * Orders the certificate now, ahead of schedule. The record shows the result, or that the order is in progress. Throws
 * 409 if the host cannot have one, 429 if the certificate authority must not be asked yet.
 */
export async function askCertificate(ctx: Context, grant: Grant, id: string): Promise<DomainView> {
  const domain = requireDomain(ctx.db.orm, grant, id)
  const { hostname } = domain
  if (domain.verifiedAt === null)
    throw new AppError('conflict', `${hostname} gets a certificate once it is verified`)
  if (ctx.certificates.stateOf(hostname).status === 'off')
    throw new AppError(
      'conflict',
      'This server does not order certificates: the proxy in front of it holds them',
    )
  await ctx.certificates.tryNow(hostname)
  inTransaction(ctx.db, (tx) => audit(ctx, tx, grant.actor, aboutChange('domain.certificate', domain)))
  return getDomain(ctx, authorizeAgain(ctx, grant, 'domain:manage'), id)
}

/** For routes that name a domain in the path. */
export const aboutDomain = (ctx: Context, id: string | undefined): { projectId: string | null } =>
  aboutRow(ctx, id, findDomain)

/** The name of the alias as the project spells it. Throws 404 if the project has no such alias. */
export function aliasNameOf(ctx: Context, projectId: string, name: string): string {
  const alias = findAliasByName(ctx, projectId, name)
  if (alias === undefined) throw new AppError('not_found', `The project has no alias ${JSON.stringify(name)}`)
  return alias.name
}

function patchOf(ctx: Context, grant: Grant, domain: DomainRow, change: DomainChange): DomainPatch {
  const { alias, pathPrefix, redirectTo, isPublic, isSpa, requiredRole, verified } = change
  const isSkipped = verified === true && domain.verifiedAt === null
  if (isSkipped) authorize(ctx, grant.caller, 'workspace:administer', undefined, false)
  return {
    ...(alias === undefined ? {} : { alias: aliasNameOf(ctx, domain.projectId, alias) }),
    ...(pathPrefix === undefined ? {} : { pathPrefix: parsePathPrefix(pathPrefix ?? '') }),
    ...(redirectTo === undefined ? {} : { redirectTo: parseRedirect(redirectTo, domain.hostname) }),
    ...(isPublic === undefined ? {} : { isPublic }),
    ...(isSpa === undefined ? {} : { isSpa }),
    ...(requiredRole === undefined ? {} : { requiredRole }),
    ...(isSkipped ? { verifiedBy: 'admin', verifiedAt: ctx.now() } : {}),
  }
}

/** The domain, if it is of the project of the grant; else throws 404. */
export function requireDomain(db: DbOrTx, grant: Grant, id: string): DomainRow {
  const domain = within(grant, findDomain(db, id))
  if (domain === undefined) throw new AppError('not_found', 'There is no such domain')
  return domain
}

function toView(ctx: Context, domain: DomainRow): DomainView {
  const { challenge, verifiedBy, verifiedAt, checkedAt, checkError: _, ...others } = domain
  const { pathPrefix, createdAt, updatedAt, ...rest } = others
  const isOurs = verifiedBy === 'base_domain'
  return {
    ...rest,
    pathPrefix: pathPrefix === '' ? null : pathPrefix,
    url: `${ctx.siteUrl(domain.hostname)}/`,
    dnsRecords: isOurs ? [] : dnsRecordsOf(ctx, domain.hostname),
    verification: {
      method: verifiedBy ?? 'txt',
      name: isOurs ? null : txtNameOf(domain.hostname),
      value: isOurs ? null : challenge,
      url: isOurs || isContested(ctx.db.orm, domain) ? null : challengeUrlOf(domain),
      verifiedAt: isoTimeOrNull(verifiedAt),
      checkedAt: isoTimeOrNull(checkedAt),
      error: claimError(ctx.db.orm, domain),
    },
    certificate: certificateOf(ctx, domain.hostname),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

const dnsRecordsOf = ({ config }: Context, name: string): DomainView['dnsRecords'] =>
  knownAddresses(config).map((value) => ({ type: value.includes(':') ? 'AAAA' : 'A', name, value }))

function certificateOf(ctx: Context, hostname: string): DomainView['certificate'] {
  const { status, expiresAt, error } = ctx.certificates.stateOf(hostname)
  return { status, expiresAt: isoTimeOrNull(expiresAt), error }
}

export const aboutChange = (action: string, { id, hostname, projectId }: DomainRow) => ({
  action,
  target: { kind: 'domain', id, name: hostname },
  projectId,
})
