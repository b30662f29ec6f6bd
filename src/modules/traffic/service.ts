import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { DAY_SECONDS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import type { TrafficRule, TrafficWeight } from '../../domain/traffic.ts'
import type { Grant } from '../auth/authorize.ts'
import { aliasNameOf, type DomainRow, requireDomain, touchDomain } from '../domains/service.ts'
import type { NewTraffic, TrafficView } from './model.ts'
import { deleteTrafficRow, findTraffic, type TrafficRow, upsertTraffic } from './queries.ts'

export type { TrafficView } from './model.ts'

/** Throws 404 for a domain without a traffic split. */
export function getTraffic(ctx: Context, grant: Grant, domainId: string): TrafficView {
  const split = findSplit(ctx, grant, domainId)
  if (split === undefined) throw new AppError('not_found', 'This domain has no traffic split')
  return split
}

/** Undefined for a domain that shows everybody the same alias. */
export function findSplit(ctx: Context, grant: Grant, domainId: string): TrafficView | undefined {
  const row = findTraffic(ctx.db.orm, requireDomain(ctx.db.orm, grant, domainId).id)
  return row && toView(row)
}

/**
 * Takes effect with the next request. Throws 404 for an alias that the project does not have. An alias that was deleted
 * since the split named it may stay, and takes effect again when it is back.
 */
export function setTraffic(ctx: Context, grant: Grant, domainId: string, input: NewTraffic): TrafficView {
  const domain = requireDomain(ctx.db.orm, grant, domainId)
  checkWeights(input.weights)
  const known = new Set(namesIn(findSplit(ctx, grant, domainId)))
  const named = <T extends { alias: string }>(one: T): T =>
    known.has(one.alias) ? one : { ...one, alias: aliasNameOf(ctx, domain.projectId, one.alias) }
  const row: TrafficRow = {
    domainId,
    weights: JSON.stringify(input.weights.map(named)),
    sticky: input.sticky ?? true,
    stickySeconds: input.stickySeconds ?? DAY_SECONDS,
    rules: JSON.stringify((input.rules ?? []).map(named)),
    updatedAt: ctx.now(),
  }
  inTransaction(ctx.db, (tx) => {
    const before = findTraffic(tx, domainId)
    upsertTraffic(tx, row)
    audit(ctx, tx, grant.actor, {
      ...aboutTraffic('traffic.set', domain),
      before: before && toView(before),
      after: toView(row),
      undo: { before: before === undefined ? null : toView(before), after: toView(row) },
    })
  })
  return toView(row)
}

/** The domain shows its own alias to everybody again. Does nothing if it already does. */
export function deleteTraffic(ctx: Context, grant: Grant, domainId: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const domain = requireDomain(tx, grant, domainId)
    const before = findTraffic(tx, domain.id)
    if (before === undefined) return
    deleteTrafficRow(tx, domainId)
    // The host shows something else from now on, which a visitor's If-Modified-Since has to learn.
    touchDomain(ctx, tx, domainId)
    audit(ctx, tx, grant.actor, {
      ...aboutTraffic('traffic.delete', domain),
      before: toView(before),
      undo: { before: toView(before), after: null },
    })
  })
}

const namesIn = (split: TrafficView | undefined): string[] =>
  split === undefined ? [] : [...split.weights, ...split.rules].map(({ alias }) => alias)

function checkWeights(weights: readonly TrafficWeight[]): void {
  const sum = weights.reduce((total, { weight }) => total + weight, 0)
  if (sum !== 100) throw invalidWeights(`The weights add up to ${sum}; they must add up to 100`)
  const names = new Set(weights.map(({ alias }) => alias.toLowerCase()))
  if (names.size !== weights.length) throw invalidWeights('Each alias may appear only once')
}

function invalidWeights(message: string): AppError {
  return new AppError('invalid', message, { details: [{ path: 'weights', message }] })
}

const toView = ({ weights, sticky, stickySeconds, rules }: TrafficRow): TrafficView => ({
  weights: JSON.parse(weights) as TrafficWeight[],
  sticky,
  stickySeconds,
  rules: JSON.parse(rules) as TrafficRule[],
})

const aboutTraffic = (action: string, { id, hostname, projectId }: DomainRow) => ({
  action,
  target: { kind: 'domain', id, name: hostname },
  projectId,
})
