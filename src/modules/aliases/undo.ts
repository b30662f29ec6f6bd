import { audit } from '../../db/audit.ts'
import { refuseTaken } from '../../db/open.ts'
import { findDeploymentOfProject } from '../deployments/service.ts'
import { insertRule } from '../proxy-rules/rules-of-alias.ts'
import { attachAgain } from '../rule-sets/attached-sets.ts'
import { clockOf } from '../schedules/clock.ts'
import { restoreSchedules } from '../schedules/of-rules.ts'
import { cannotUndo, changedSince, refuseChanged, type Undoing, undoKind } from '../undo/kind.ts'
import { aboutChange } from './about.ts'
import { type AliasPlace, addHistory, changeSettings, moveAlias, placeOf, type Settings } from './changes.ts'
import { isLabelFree } from './host-labels.ts'
import { tellOfMove } from './moves.ts'
import { type AliasRow, findAlias, insertAlias, insertHistory, insertLabel } from './queries.ts'
import { type RemovedAlias, removeAlias } from './remove.ts'
import { refuseInUse, refuseLocked, refusePassed } from './service.ts'

/** To where it was, with the folder of that time. */
export const aliasMove = undoKind<{ from: AliasPlace; to: AliasPlace }>({
  needs: 'alias:write',
  undo(undoing, { from, to }) {
    const { ctx, tx, grant } = undoing
    const alias = aliasOf(undoing)
    if (!isAt(alias, to)) throw changedSince(`what ${alias.name} shows`)
    refuseLocked(ctx, grant, alias)
    const deployment = deploymentAt(undoing, alias, from)
    const moved = moveAlias(ctx, tx, grant.actor, alias, {
      deployment,
      basePath: from.basePath,
      reason: 'move',
    })
    tellOfMove(ctx, tx, grant.actor, { before: alias, after: moved }, 'move')
  },
})

/** Gone, if it still shows what it showed. */
export const aliasCreate = undoKind<AliasPlace>({
  needs: 'alias:write',
  undo(undoing, place) {
    const { ctx, tx, grant } = undoing
    const alias = aliasOf(undoing)
    if (!isAt(alias, place)) throw changedSince(`what ${alias.name} shows`)
    if (alias.expiresAt !== null) throw changedSince(`the end of ${alias.name}`)
    refuseLocked(ctx, grant, alias)
    refuseInUse(ctx, alias)
    removeAlias(ctx, tx, grant.actor, alias)
  },
})

export const aliasChange = undoKind<{ before: Settings; after: Settings }>({
  needs: ({ before }) => (isOnlyEndOfPreview(before) ? 'alias:write' : 'alias:manage'),
  undo(undoing, { before, after }) {
    const { ctx, tx, grant } = undoing
    const alias = aliasOf(undoing)
    refuseChanged(alias, after)
    if (typeof before.expiresAt === 'number') refusePassed(ctx, before.expiresAt)
    changeSettings(ctx, tx, grant.actor, alias, before)
  },
})

/** With id, settings, history, host, own rules, their schedules and attached sets. */
export const aliasDelete = undoKind<RemovedAlias>({
  needs: 'alias:manage',
  undo(undoing, { alias, label, history, rules, schedules = [], setIds }) {
    const { ctx, tx, grant } = undoing
    const deployment = deploymentAt(undoing, alias, alias)
    const back = { ...alias, updatedAt: ctx.now() }
    refuseTaken(`There is an alias ${alias.name} already`, () => insertAlias(tx, back))
    if (label !== null) giveLabelBack(undoing, alias, label)
    for (const move of history) insertHistory(tx, move)
    addHistory(ctx, tx, grant.actor, back, { deployment, reason: 'create' })
    for (const rule of rules) insertRule(tx, rule)
    restoreSchedules(ctx, tx, schedules)
    attachAgain(tx, alias.id, setIds)
    audit(ctx, tx, grant.actor, {
      ...aboutChange('alias.create', back),
      after: back,
      undo: placeOf(back),
    })
    tellOfMove(ctx, tx, grant.actor, { before: undefined, after: back }, 'create')
  },
  done: (ctx) => void clockOf(ctx).changed(),
})

function giveLabelBack({ ctx, tx }: Undoing, { id, name }: AliasRow, label: string): void {
  if (!isLabelFree(ctx, tx, label))
    throw cannotUndo(`the host ${label}.${ctx.config.baseDomain} of ${name} belongs to another site by now`)
  insertLabel(tx, label, { aliasId: id })
}

function aliasOf({ tx, targetId }: Undoing): AliasRow {
  const alias = findAlias(tx, targetId)
  if (alias === undefined) throw cannotUndo('the alias is gone')
  return alias
}

const isAt = (alias: AliasPlace, place: AliasPlace): boolean =>
  alias.deploymentId === place.deploymentId && alias.basePath === place.basePath

function deploymentAt({ ctx }: Undoing, { projectId, name }: AliasRow, { deploymentId }: AliasPlace) {
  const deployment = findDeploymentOfProject(ctx.db, projectId, deploymentId)
  if (deployment === null) throw cannotUndo(`the deployment that ${name} showed is gone`)
  return deployment
}

const isOnlyEndOfPreview = (before: Settings): boolean =>
  typeof before.expiresAt === 'number' && Object.keys(before).every((key) => key.startsWith('expires'))
