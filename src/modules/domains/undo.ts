import { audit } from '../../db/audit.ts'
import { refuseTaken } from '../../db/open.ts'
import type { DifferingFields } from '../../domain/differing-fields.ts'
import { authorize } from '../auth/authorize.ts'
import { upsertTraffic } from '../traffic/stored.ts'
import { refuseChanged, type Undoing, undoKind } from '../undo/kind.ts'
import { refuseHeld, refuseLost } from './claims.ts'
import { refuseReserved } from './hostname.ts'
import {
  type DomainPatch,
  type DomainRow,
  insertDomain,
  updateDomain,
  wasProvenElsewhere,
} from './queries.ts'
import {
  aboutChange,
  aliasNameOf,
  type RemovedDomain,
  removeDomain,
  requireDomain,
  tellVerified,
} from './service.ts'

const hostsChanged = { done: (ctx: Undoing['ctx']) => ctx.certificates.hostsChanged() }

/** Gone, if it still shows what it showed; a proof of since then does no harm. */
export const domainCreate = undoKind<DomainRow>({
  needs: 'domain:manage',
  ...hostsChanged,
  undo({ ctx, tx, grant, targetId }, made) {
    const domain = requireDomain(tx, grant, targetId)
    const { alias, pathPrefix, redirectTo, isPublic, isSpa, requiredRole } = made
    refuseChanged(domain, { alias, pathPrefix, redirectTo, isPublic, isSpa, requiredRole })
    removeDomain(ctx, tx, grant, domain)
  },
})

export const domainChange = undoKind<DifferingFields>({
  needs: 'domain:manage',
  ...hostsChanged,
  undo({ ctx, tx, grant, targetId }, { before, after }) {
    const domain = requireDomain(tx, grant, targetId)
    refuseChanged(domain, after)
    if (typeof before['verifiedAt'] === 'number') {
      authorize(ctx, grant.caller, 'workspace:administer', undefined, false)
      refuseLost(tx, domain)
    }
    if (typeof before['alias'] === 'string') aliasNameOf(ctx, domain.projectId, before['alias'])
    updateDomain(tx, domain.id, { ...(before as DomainPatch), updatedAt: ctx.now() })
    audit(ctx, tx, grant.actor, {
      ...aboutChange('domain.change', domain),
      before: after,
      after: before,
      undo: { before: after, after: before },
    })
  },
})

/** With its traffic split. A proof stays unless another project has proven the host since. */
export const domainDelete = undoKind<RemovedDomain>({
  needs: 'domain:manage',
  ...hostsChanged,
  undo({ ctx, tx, grant }, { domain, traffic }) {
    const { hostname, projectId } = domain
    refuseReserved(ctx, tx, hostname)
    refuseHeld(ctx, tx, hostname)
    aliasNameOf(ctx, projectId, domain.alias)
    const isLost = domain.verifiedBy !== 'base_domain' && wasProvenElsewhere(ctx.db, domain)
    const proof = isLost ? { verifiedBy: null, verifiedAt: null } : {}
    const back: DomainRow = { ...domain, ...proof, updatedAt: ctx.now() }
    refuseTaken(`${hostname} is already mapped`, () => insertDomain(tx, back))
    if (traffic !== null) upsertTraffic(tx, traffic)
    audit(ctx, tx, grant.actor, { ...aboutChange('domain.create', back), after: back, undo: back })
    if (back.verifiedAt !== null) tellVerified(ctx, tx, grant, back)
  },
})
