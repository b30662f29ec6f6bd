import type { Caller, Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { authorize, type Grant, mayDo } from '../auth/authorize.ts'
import { allNames, projectOf, readableProjectIds } from '../projects/service.ts'
import type { Found, ProjectCause } from './cause.ts'
import { heldReleases, withoutStartPage } from './causes/deployments.ts'
import { domainTroubles } from './causes/domains.ts'
import { failedRequests } from './causes/errors.ts'
import { failingRules, missingSecrets } from './causes/rules.ts'
import { hooksOff, workspaceTroubles } from './causes/workspace.ts'
import type { AttentionItem } from './model.ts'
import { untilWritten } from './until-written.ts'

export type { AttentionItem } from './model.ts'

/** The one list of causes. contract 17.7. */
const CAUSES: readonly ProjectCause[] = [
  failedRequests,
  domainTroubles,
  untilWritten(withoutStartPage),
  untilWritten(heldReleases),
  failingRules,
  untilWritten(missingSecrets),
]

/** What somebody should look at, in all projects that the caller may read, and for admins in the workspace. */
export async function listAttention(ctx: Context, grant: Grant): Promise<AttentionItem[]> {
  const ids = readableProjectIds(ctx, grant) ?? allNames(ctx.db).map(({ id }) => id)
  const admin = adminGrant(ctx, grant.caller)
  const ofWorkspace = admin === undefined ? [] : await workspaceTroubles(ctx, admin)
  const hooks = hooksOff(ctx).filter(({ projectId }) => projectId !== null || admin !== undefined)
  return shown(ctx, grant.caller, [...find(ctx, ids), ...hooks, ...ofWorkspace])
}

/** The same for one project. */
export function attentionOf(ctx: Context, grant: Grant): AttentionItem[] {
  const { id } = projectOf(ctx, grant)
  const hooks = hooksOff(ctx).filter(({ projectId }) => projectId === id)
  return shown(ctx, grant.caller, [...find(ctx, [id]), ...hooks])
}

const find = (ctx: Context, projectIds: readonly string[]): Found[] =>
  projectIds.length === 0 ? [] : CAUSES.flatMap((cause) => cause(ctx, projectIds))

/** Undefined for those who may not look after the workspace. */
function adminGrant(ctx: Context, caller: Caller): Grant | undefined {
  try {
    return authorize(ctx, caller, 'workspace:administer', undefined, true)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Only what the caller may open: errors first, then the newest. */
function shown(ctx: Context, caller: Caller, found: readonly Found[]): AttentionItem[] {
  const mayOpen = ({ projectId, needs }: Found): boolean =>
    projectId === null || needs === null || mayDo(ctx, caller, needs, projectId)
  return found
    .filter(mayOpen)
    .sort((a, b) => rank(a) - rank(b) || b.at - a.at)
    .map(({ needs: _, at, ...item }) => ({ ...item, at: isoTime(at) }))
}

const rank = ({ severity }: Found): number => (severity === 'error' ? 0 : 1)
