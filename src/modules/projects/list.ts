import type { Caller, Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import type { ProjectAction } from '../../domain/access.ts'
import { pageOfRows } from '../../domain/pagination.ts'
import { type Grant, mayDo } from '../auth/authorize.ts'
import { listProjectIdsOfUser } from '../members/service.ts'
import type { ProjectView } from './model.ts'
import { listAllNames, listNamesById, listProjectsById, type ProjectNames } from './queries.ts'
import { viewFor } from './view.ts'

type ProjectSearch = {
  /** A part of the name, in any case. */
  q?: string | undefined
  limit?: number | undefined
}

/** Projects on which the caller has a role: all for a global admin, a key's own, on a site host just its own. */
export function listProjects(ctx: Context, { caller }: Grant, search: ProjectSearch = {}): ProjectView[] {
  return viewsOf(ctx, caller, seenBy(ctx, caller, search.q).slice(0, search.limit))
}

/** One page of those of which the caller may see the admin's pages. A page after the last is the last. contract 17.12. */
export function pageOfProjects(
  ctx: Context,
  { caller }: Grant,
  { q, page, perPage }: { q: string; page: number; perPage: number },
): { projects: ProjectView[]; page: number; pages: number; total: number } {
  const { rows, ...place } = pageOfRows(seenBy(ctx, caller, q, 'project:read'), page, perPage)
  return { projects: viewsOf(ctx, caller, rows), ...place }
}

/** The same with names only, for lists to choose from: building a view of each would take many times as long. */
export const listProjectNames = (ctx: Context, { caller }: Grant): readonly ProjectNames[] =>
  seenBy(ctx, caller)

/** The ids of the projects whose deployments, aliases and so on the caller may read; null for all projects. */
export function readableProjectIds(ctx: Context, { caller }: Grant): string[] | null {
  if (seesAll(caller)) return null
  return namesFor(ctx, caller).flatMap(({ id }) => (mayDo(ctx, caller, 'project:read', id) ? [id] : []))
}

/** Whether there is any project where the caller may do that. */
export const mayDoSomewhere = (ctx: Context, caller: Caller, action: ProjectAction): boolean =>
  namesFor(ctx, caller).some(({ id }) => mayDo(ctx, caller, action, id, false))

function seenBy(
  ctx: Context,
  caller: Caller,
  q = '',
  action: ProjectAction = 'project:see',
): readonly ProjectNames[] {
  const sought = q.trim().toLowerCase()
  const all = namesFor(ctx, caller)
  const named = sought === '' ? all : all.filter((project) => textOf(project).includes(sought))
  return seesAll(caller) ? named : named.filter(({ id }) => mayDo(ctx, caller, action, id))
}

const texts = new WeakMap<ProjectNames, string>()

/** The text that a search matches, cached as long as the names are: a workspace may have a thousand. */
function textOf(project: ProjectNames): string {
  const known = texts.get(project)
  if (known !== undefined) return known
  const text = `${project.owner}/${project.name} ${project.displayName}`.toLowerCase()
  texts.set(project, text)
  return text
}

const keptOf = new WeakMap<Db, { writes: number; all: readonly ProjectNames[] }>()

/** Every project, cached until the next write: many pages of a workspace with a thousand projects use them. */
export function allNames(db: Db): readonly ProjectNames[] {
  const kept = keptOf.get(db)
  if (kept?.writes === db.writes) return kept.all
  const all = listAllNames(db)
  keptOf.set(db, { writes: db.writes, all })
  return all
}

/** A global key, or a global admin on the admin host or the command line. They see all projects, so none needs to be checked one by one. */
const seesAll = ({ actor, site }: Caller): boolean =>
  actor.kind === 'key'
    ? actor.key.isGlobal
    : 'user' in actor && actor.user.role === 'admin' && (actor.kind === 'cli' || site === null)

/** The candidates; what the caller may do on each is checked later. */
function namesFor(ctx: Context, caller: Caller): readonly ProjectNames[] {
  const { actor, site } = caller
  if (seesAll(caller)) return allNames(ctx.db)
  if (actor.kind === 'key')
    return listNamesById(ctx.db, actor.key.projectId === null ? [] : [actor.key.projectId])
  if (site !== null && actor.kind !== 'cli') return listNamesById(ctx.db, [site.projectId])
  return 'user' in actor ? listNamesById(ctx.db, listProjectIdsOfUser(ctx.db, actor.user.id)) : []
}

function viewsOf(ctx: Context, caller: Caller, named: readonly ProjectNames[]): ProjectView[] {
  const ids = named.map(({ id }) => id)
  return listProjectsById(ctx.db.orm, ids).map((project) => viewFor(ctx, caller, project))
}
