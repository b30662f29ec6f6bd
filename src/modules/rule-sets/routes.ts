import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { MAX_SYNC_BYTES } from '../../http/json-body.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { aboutProject } from '../projects/service.ts'
import {
  exportView,
  refuseShapelessPush,
  revisionList,
  rollbackAnswer,
  rollbackBody,
  ruleSetList,
  ruleSetPatchBody,
  ruleSetWithRules,
  syncAnswer,
  syncBody,
} from './model.ts'
import {
  aboutRuleSet,
  changeRuleSet,
  deleteRuleSet,
  exportRuleSet,
  getRuleSet,
  listRuleSetRevisions,
  listRuleSets,
  rollbackRuleSet,
  syncRuleSet,
} from './service.ts'

const onSet = (ctx: Context) => ({ on: ({ params }: PathInput) => aboutRuleSet(ctx, params['id']) })

/** contract §9.2; rights: Configure traffic. */
export const ruleSetRoutes = (ctx: Context) => {
  const onProject = { on: ({ params }: PathInput) => aboutProject(ctx, params['projectId']) }
  return new Elysia({ prefix: '/api/proxy-rule-sets', tags: ['Rule sets'] })
    .use(guard(ctx))
    .put('/project/:projectId/sync', ({ grant, body }) => syncRuleSet(ctx, grant, body), {
      may: { action: 'traffic:configure', ...onProject, maxBodyBytes: MAX_SYNC_BYTES },
      transform: refuseShapelessPush,
      body: syncBody,
      response: syncAnswer,
      detail: {
        summary: 'Apply a push to a rule set',
        description:
          'Rules and schemas in one transaction; the same push again changes nothing. An empty header value keeps the ' +
          'stored one. `dryRun` returns what would change, `prune` deletes rules that are not in the push.',
      },
    })
    .get('/project/:projectId', ({ grant }) => ({ ruleSets: listRuleSets(ctx, grant) }), {
      may: { action: 'project:read', ...onProject },
      response: ruleSetList,
      detail: { summary: 'Rule sets of a project, the oldest first' },
    })
    .get('/:id', ({ grant, params }) => getRuleSet(ctx, grant, params.id), {
      may: { action: 'project:read', ...onSet(ctx) },
      response: ruleSetWithRules,
      detail: { summary: 'A rule set with its rules' },
    })
    .get('/:id/export', ({ grant, params }) => exportRuleSet(ctx, grant, params.id), {
      may: { action: 'project:read', ...onSet(ctx) },
      response: exportView,
      detail: { summary: 'A rule set as a push that would change nothing, without header values' },
    })
    .patch('/:id', ({ grant, params, body }) => changeRuleSet(ctx, grant, params.id, body), {
      may: { action: 'traffic:configure', ...onSet(ctx) },
      body: ruleSetPatchBody,
      response: ruleSetWithRules,
      detail: {
        summary: 'Rename a rule set, or attach it to aliases',
        description:
          '`aliases` is the complete list. A set attached to an alias is live only there. It stays off the other sites ' +
          'when the last alias is removed; `liveOn: "project"` makes it live there again.',
      },
    })
    .delete(
      '/:id',
      ({ grant, params, status }) => {
        deleteRuleSet(ctx, grant, params.id)
        return status(204, undefined)
      },
      {
        may: { action: 'traffic:configure', ...onSet(ctx) },
        response: { 204: t.Undefined() },
        detail: { summary: 'Delete a rule set with its rules' },
      },
    )
}

/** The last states of a rule set, and the way back to one. */
export const ruleSetHistoryRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/proxy-rule-sets', tags: ['Rule sets'] })
    .use(guard(ctx))
    .get(
      '/:id/revisions',
      ({ grant, params }) => ({ revisions: listRuleSetRevisions(ctx, grant, params.id) }),
      {
        may: { action: 'project:read', ...onSet(ctx) },
        response: revisionList,
        detail: { summary: 'The last 20 states of a rule set, the newest first' },
      },
    )
    .post(
      '/:id/rollback/:revisionId',
      ({ grant, params, body }) =>
        rollbackRuleSet(ctx, grant, params.id, params.revisionId, body?.dryRun === true),
      {
        may: { action: 'traffic:configure', ...onSet(ctx) },
        body: rollbackBody,
        response: rollbackAnswer,
        detail: {
          summary: 'Restore the rules of a revision',
          description:
            'Answers the set, and what became of its rules as a push does. `dryRun` changes nothing.',
        },
      },
    )
