import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError } from '../../src/domain/errors.ts'
import { pageOfRows } from '../../src/domain/pagination.ts'
import { getAlias, listAliases } from '../../src/modules/aliases/service.ts'
import type { Grant } from '../../src/modules/auth/authorize.ts'
import { listRules, type RuleLevel, reorderRules } from '../../src/modules/proxy-rules/service.ts'
import {
  aliasesWithRules,
  listRuleSets,
  placeRuleSets,
  type RuleSetView,
  ruleSetsOfAlias,
} from '../../src/modules/rule-sets/service.ts'
import { page } from '../components/html.ts'
import type { Form } from '../frame/form.ts'
import { pageNumberOf, UNREAD_BODY } from '../frame/form.ts'
import { queryOf } from '../frame/page-request.ts'
import { doneNotice, type Failed, lookAt, submitProjectForm } from '../frame/project-request.ts'
import { type RulesOfLevel, rulesPage } from './rules.ts'

/** The rules of a project and of its aliases, in the order they are tried. They answer before files do. */
export const rulesPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/rules', ({ request, params }) => showRules(ctx, request, params.id))
    .post('/projects/:id/rules', ({ request, params }) => submitRules(ctx, request, params.id), UNREAD_BODY)

/** Each alias is a card with all its rules. */
const ALIASES_PER_PAGE = 10
const MAX_CHOICES = '100'

function showRules(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const { grant } = looking
  const names = listAliases(ctx, grant, {
    projectId: id,
    limit: MAX_CHOICES,
    sort: 'name',
    order: 'asc',
  }).data
  const sets = listRuleSets(ctx, grant)
  const chosen = findChosen(ctx, grant, id, queryOf(request, 'alias'))
  const ruled = chosen === undefined ? aliasesWithRules(ctx, grant) : [chosen]
  const { rows, ...place } = pageOfRows(ruled, pageNumberOf(queryOf(request, 'page')), ALIASES_PER_PAGE)
  return page(
    rulesPage({
      ...looking,
      aliases: rows.map((alias) => ofAlias(ctx, grant, id, alias, sets)),
      everywhere: ofProject(ctx, grant, id, sets),
      idle: sets.filter(({ liveOn, aliases }) => liveOn === 'aliases' && aliases.length === 0),
      aliasNames: names.map(({ name }) => name),
      chosen: chosen?.name ?? '',
      ...place,
      apiUrl: ctx.adminUrl(),
      failed,
      notices: doneNotice(request, DONE),
    }),
    failed?.error.status,
  )
}

const DONE = {
  ordered: 'The order was saved.',
  sets: 'The rule sets of the alias were saved.',
  deleted: 'The rule was deleted.',
  'set-deleted': 'The rule set and its rules were deleted.',
}

type NamedAlias = { id: string; name: string }

/** Throws 404 for a name that the project does not have. */
function findChosen(ctx: Context, grant: Grant, projectId: string, name?: string): NamedAlias | undefined {
  if (name === undefined) return undefined
  const [found] = listAliases(ctx, grant, { projectId, name, limit: '1' }).data
  if (found === undefined) throw new AppError('not_found', `The project has no alias ${name}.`)
  return found
}

function ofProject(
  ctx: Context,
  grant: Grant,
  projectId: string,
  sets: readonly RuleSetView[],
): RulesOfLevel {
  const live = sets.filter(({ liveOn }) => liveOn === 'project')
  return { alias: null, others: [], ...split(ctx, grant, { projectId, aliasId: null }, live) }
}

function ofAlias(
  ctx: Context,
  grant: Grant,
  projectId: string,
  alias: NamedAlias,
  sets: readonly RuleSetView[],
): RulesOfLevel {
  const named = ruleSetsOfAlias(ctx, grant, alias.id)
  const others = sets.filter(({ id }) => !named.some((set) => set.id === id))
  return { alias, others, ...split(ctx, grant, { projectId, aliasId: alias.id }, named) }
}

function split(ctx: Context, grant: Grant, level: RuleLevel, sets: readonly RuleSetView[]) {
  const rules = listRules(ctx, grant, level)
  return {
    own: rules.filter(({ ruleSetId }) => ruleSetId === null),
    sets: sets.map((set) => ({ ...set, rules: rules.filter(({ ruleSetId }) => ruleSetId === set.id) })),
  }
}

const submitRules = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      reorder: {
        run({ grant, form }) {
          const aliasId = form.optional('aliasId') ?? null
          const level = { projectId: id, aliasId }
          reorderRules(ctx, grant, level, newOrder(ctx, grant, level, form))
          return backTo(request, 'ordered')
        },
      },
      sets: {
        run({ grant, form }) {
          const aliasId = form.text('aliasId')
          placeRuleSets(ctx, grant, aliasId, newSets(ctx, grant, aliasId, form))
          const { name } = getAlias(ctx, grant, aliasId)
          return `/projects/${id}/rules?alias=${encodeURIComponent(name)}&done=sets`
        },
      },
    },
    show: (failed) => showRules(ctx, request, id, failed),
  })

/** The same page with the same alias. */
function backTo(request: Request, done: string): string {
  const { pathname, searchParams } = new URL(request.url)
  searchParams.set('done', done)
  return `${pathname}?${searchParams}`
}

/** The script sends the complete order; a button sends one rule and its direction. */
function newOrder(ctx: Context, grant: Grant, level: RuleLevel, form: Form): string[] {
  const order = form.optional('order')
  if (order !== undefined) return order.split(',')
  const ids = listRules(ctx, grant, level).flatMap(({ id, ruleSetId }) => (ruleSetId === null ? [id] : []))
  return moved(ids, form.text('move'))
}

function newSets(ctx: Context, grant: Grant, aliasId: string, form: Form): string[] {
  const ids = ruleSetsOfAlias(ctx, grant, aliasId).map(({ id }) => id)
  const detach = form.optional('detach')
  if (detach !== undefined) return ids.filter((id) => id !== detach)
  const attach = form.optional('attach')
  if (attach === undefined) return moved(ids, form.text('move'))
  return ids.includes(attach) ? ids : [...ids, attach]
}

/** `up ID` or `down ID`. The first and last entries stay in place. */
function moved(ids: readonly string[], move: string): string[] {
  const [way, id = ''] = move.split(' ')
  const from = ids.indexOf(id)
  const to = way === 'up' ? from - 1 : from + 1
  if (from === -1 || (way !== 'up' && way !== 'down'))
    throw new AppError('invalid', 'This entry is no longer in the list. Reload the page.')
  const others = ids.filter((one) => one !== id)
  return to < 0 || to > others.length ? [...ids] : [...others.slice(0, to), id, ...others.slice(to)]
}
