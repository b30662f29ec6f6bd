import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { aboutAlias } from '../aliases/service.ts'
import type { About, Grant } from '../auth/authorize.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { aboutProject } from '../projects/service.ts'
import { newRuleBody, refuseShapeless, reorderBody, ruleList, rulePatchBody, ruleView } from './model.ts'
import {
  aboutRuleId,
  changeRule,
  createRule,
  deleteRule,
  getRule,
  listRules,
  type RuleLevel,
  reorderRules,
} from './service.ts'

export const proxyRuleRoutes = (ctx: Context) => {
  const onProject = { on: ({ params }: PathInput) => aboutProject(ctx, params['projectId']) }
  const onAlias = { on: ({ params }: PathInput) => aboutAlias(ctx, params['aliasId']) }
  return new Elysia()
    .use(
      levelRoutes(ctx, '/project/:projectId', onProject, {
        list: 'Rules of a project, in the order in which they are tried',
        add: 'Add a rule for every site of a project',
        reorder: 'Put the rules of a project in another order',
      }),
    )
    .use(
      levelRoutes(ctx, '/alias/:aliasId', onAlias, {
        list: 'Rules of an alias, in the order in which they are tried',
        add: 'Add a rule for one alias; it comes before those of the project',
        reorder: 'Put the rules of an alias in another order',
      }),
    )
    .use(ruleRoutes(ctx))
}

type Summaries = { list: string; add: string; reorder: string }

/** The rules of every site of a project, or those of one alias. */
const levelRoutes = (
  ctx: Context,
  path: `/${string}`,
  place: { on: (input: PathInput) => About },
  summaries: Summaries,
) =>
  new Elysia({ prefix: '/api/proxy-rules', tags: ['Proxy rules'] })
    .use(guard(ctx))
    .onTransform(refuseShapeless)
    .get(path, ({ grant, params }) => ({ rules: listRules(ctx, grant, levelOf(grant, params)) }), {
      may: { action: 'project:read', ...place },
      response: ruleList,
      detail: { summary: summaries.list },
    })
    .post(
      path,
      async ({ grant, params, body, status }) =>
        status(201, await createRule(ctx, grant, levelOf(grant, params), body)),
      {
        may: { action: 'traffic:configure', ...place },
        body: newRuleBody,
        response: { 201: ruleView },
        detail: { summary: summaries.add },
      },
    )
    .put(
      `${path}/reorder`,
      ({ grant, params, body }) => ({
        rules: reorderRules(ctx, grant, levelOf(grant, params), body.ruleIds),
      }),
      {
        may: { action: 'traffic:configure', ...place },
        body: reorderBody,
        response: ruleList,
        detail: { summary: summaries.reorder },
      },
    )

const ruleRoutes = (ctx: Context) => {
  const onRule = { on: ({ params }: PathInput) => aboutRuleId(ctx, params['id']) }
  return new Elysia({ prefix: '/api/proxy-rules', tags: ['Proxy rules'] })
    .use(guard(ctx))
    .onTransform(refuseShapeless)
    .get('/:id', ({ grant, params }) => getRule(ctx, grant, params.id), {
      may: { action: 'project:read', ...onRule },
      response: ruleView,
      detail: { summary: 'A rule' },
    })
    .patch('/:id', ({ grant, params, body }) => changeRule(ctx, grant, params.id, body), {
      may: { action: 'traffic:configure', ...onRule },
      body: rulePatchBody,
      response: ruleView,
      detail: {
        summary: 'Change a rule',
        description:
          '`headerConfig` is replaced as a whole; a value of `[redacted]` keeps the stored one. Who may not see the ' +
          'stored values and changes scheme, host or port of the target drops them.',
      },
    })
    .delete(
      '/:id',
      ({ grant, params, status }) => {
        deleteRule(ctx, grant, params.id)
        return status(204, undefined)
      },
      {
        may: { action: 'traffic:configure', ...onRule },
        response: { 204: t.Undefined() },
        detail: { summary: 'Delete a rule' },
      },
    )
}

/** The guard has already looked up the project, and the alias of the path belongs to it. */
function levelOf({ projectId }: Grant, params: Record<string, string>): RuleLevel {
  if (projectId === null) throw new Error('A rule belongs to a project')
  return { projectId, aliasId: params['aliasId'] ?? null }
}
