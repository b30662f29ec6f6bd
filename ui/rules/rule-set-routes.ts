import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { ruleSetPatchBody } from '../../src/modules/rule-sets/model.ts'
import {
  changeRuleSet,
  deleteRuleSet,
  getRuleSet,
  listRuleSetRevisions,
  rollbackRuleSet,
} from '../../src/modules/rule-sets/service.ts'
import { page } from '../components/html.ts'
import { checkInput, UNREAD_BODY } from '../frame/form.ts'
import { doneNotice, type Failed, lookAt, submitProjectForm } from '../frame/project-request.ts'
import { ruleSetPage } from './rule-set.ts'

/** One rule set: its source, where it is live, and its previous revisions. */
export const ruleSetPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/rules/sets/:setId', ({ request, params }) => showSet(ctx, request, params))
    .post(
      '/projects/:id/rules/sets/:setId',
      ({ request, params }) => submitSet(ctx, request, params),
      UNREAD_BODY,
    )

type Place = { id: string; setId: string }

function showSet(ctx: Context, request: Request, { id, setId }: Place, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const notices = doneNotice(request, {
    saved: 'Saved.',
    live: 'The set is now live on every site of the project.',
    rolled: 'The set was rolled back to that revision.',
  })
  return page(
    ruleSetPage({
      ...looking,
      set: getRuleSet(ctx, looking.grant, setId),
      revisions: listRuleSetRevisions(ctx, looking.grant, setId),
      failed,
      notices,
    }),
    failed?.error.status,
  )
}

const submitSet = (ctx: Context, request: Request, { id, setId }: Place) => {
  const at = `/projects/${id}/rules/sets/${setId}`
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      settings: {
        run({ grant, form }) {
          const change = {
            name: form.text('name').trim(),
            description: form.text('description').trim() || null,
            environment: form.text('environment').trim() || null,
          }
          checkInput(ctx, request, ruleSetPatchBody, change)
          changeRuleSet(ctx, grant, setId, change)
          return `${at}?done=saved`
        },
      },
      everywhere: {
        run({ grant }) {
          changeRuleSet(ctx, grant, setId, { liveOn: 'project' })
          return `${at}?done=live`
        },
      },
      rollback: {
        async run({ grant, form }) {
          await rollbackRuleSet(ctx, grant, setId, form.text('revisionId'))
          return `${at}?done=rolled`
        },
      },
      delete: {
        isOnce: true,
        run({ grant }) {
          deleteRuleSet(ctx, grant, setId)
          return `/projects/${id}/rules?done=set-deleted`
        },
      },
    },
    show: (failed) => showSet(ctx, request, { id, setId }, failed),
  })
}
