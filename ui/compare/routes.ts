import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { historyOf, listAliases } from '../../src/modules/aliases/service.ts'
import { compareDeployments, compareSides, requireTarget } from '../../src/modules/compare/service.ts'
import { type DeploymentRow, getDeployment, listDeployments } from '../../src/modules/deployments/service.ts'
import { page } from '../components/html.ts'
import { queryOf, redirectTo } from '../frame/page-request.ts'
import { type Looking, lookAt } from '../frame/project-request.ts'
import { compareHref } from './compare-href.ts'
import { type Chosen, comparisonPage, nothingToComparePage } from './comparison-page.ts'
import { compareFilePage } from './file-page.ts'
import { viewOf } from './view.ts'

/** Two deployments of a project, and a file of both. contract 17.4. */
export const comparePages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/compare', ({ request, params }) => showComparison(ctx, request, params.id))
    .get('/projects/:id/compare/file', ({ request, params }) => showFile(ctx, request, params.id))

/** How many aliases and deployments one may choose from. */
const OFFERED = '100'

async function showComparison(ctx: Context, request: Request, id: string): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const sides = sidesOf(ctx, looking, request)
  if (sides === undefined) return page(nothingToComparePage(looking))
  const { grant } = looking
  const { from, to, chosen } = sides
  const comparison = await compareDeployments(ctx, grant, to.id, {
    with: from.id,
    page: queryOf(request, 'page'),
    limit: '100',
  })
  return page(
    comparisonPage({
      ...looking,
      from: getDeployment(ctx, grant, from.id),
      to: getDeployment(ctx, grant, to.id),
      chosen,
      comparison,
      aliases: listAliases(ctx, grant, { projectId: id, limit: OFFERED, sort: 'name', order: 'asc' }).data,
      deployments: listDeployments(ctx, grant, { projectId: id, limit: OFFERED }).data,
    }),
  )
}

async function showFile(ctx: Context, request: Request, id: string): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const { grant } = looking
  const sides = sidesOf(ctx, looking, request)
  const path = queryOf(request, 'path')
  if (sides === undefined || path === undefined) return redirectTo(302, compareHref(id, sides?.chosen ?? {}))
  const { from, to, chosen } = sides
  const file = await compareSides(ctx, grant, to.id, { with: from.id, path })
  return page(
    compareFilePage({
      ...looking,
      from: getDeployment(ctx, grant, from.id),
      to: getDeployment(ctx, grant, to.id),
      chosen,
      file,
      view: viewOf(request),
    }),
  )
}

/** What the address names, else what production showed before and shows now. Undefined without deployments. */
function sidesOf(
  ctx: Context,
  looking: Looking,
  request: Request,
): { from: DeploymentRow; to: DeploymentRow; chosen: Chosen } | undefined {
  const [from, to] = [queryOf(request, 'from'), queryOf(request, 'to')]
  const find = (target: string) => requireTarget(ctx, looking.grant, target)
  const shown = shownOf(ctx, looking)
  const toId = to ?? shown.at(0) ?? newest(ctx, looking).at(0)
  if (toId === undefined) return undefined
  const now = find(toId)
  const before = find(from ?? formerOf(ctx, looking, shown, now.id))
  return {
    from: before,
    to: now,
    chosen: { from: nameOf(from, before), to: nameOf(to, now) },
  }
}

/** An alias stays one; what is named by its id or not at all gets its number. */
const nameOf = (asked: string | undefined, { id, number }: DeploymentRow): string =>
  asked === undefined || asked === id ? String(number) : asked.replace(/^#(?=\d+$)/, '')

/** Ids of what production showed and that exists, what it shows now first. */
function shownOf(ctx: Context, { grant, project }: Looking): string[] {
  const [production] = listAliases(ctx, grant, { projectId: project.id, name: 'production', limit: '1' }).data
  if (production === undefined) return []
  const former = historyOf(ctx, grant, production.id).filter(({ exists }) => exists)
  return [production.deploymentId, ...former.map(({ deploymentId }) => deploymentId)]
}

/** For what is not live that which is, else what was live before, else what was published before. */
const formerOf = (ctx: Context, looking: Looking, shown: readonly string[], id: string): string =>
  [...shown, ...newest(ctx, looking)].find((other) => other !== id) ?? id

const newest = (ctx: Context, { grant, project }: Looking): string[] =>
  listDeployments(ctx, grant, { projectId: project.id, limit: '2' }).data.map(({ id }) => id)
