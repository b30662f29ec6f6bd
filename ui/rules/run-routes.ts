import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { aboutRuleId, getRule } from '../../src/modules/proxy-rules/service.ts'
import { getRun, listRuns, RUN_OUTCOMES, type RunOutcome } from '../../src/modules/runs/service.ts'
import { page } from '../components/html.ts'
import { queryOf } from '../frame/page-request.ts'
import { lookAt } from '../frame/project-request.ts'
import { ruleName } from './rule-words.ts'
import { runPage } from './run.ts'
import { runsPage } from './runs.ts'

/** The run log of a project's pipelines. */
export const runsPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/rules/runs', ({ request, params }) => showRuns(ctx, request, params.id))
    .get('/projects/:id/rules/runs/:runId', ({ request, params }) =>
      showRun(ctx, request, params.id, params.runId),
    )

function showRuns(ctx: Context, request: Request, id: string): Response {
  const looking = lookAt(ctx, request, id)
  const ruleId = queryOf(request, 'rule')
  const outcome = outcomeOf(queryOf(request, 'outcome'))
  const found = listRuns(ctx, looking.grant, { page: queryOf(request, 'page'), ruleId, outcome })
  const isHere = ruleId !== undefined && aboutRuleId(ctx, ruleId).projectId === id
  return page(
    runsPage({
      ...looking,
      found,
      filters: { rule: ruleId ?? '', outcome: outcome ?? '' },
      ruleName: isHere ? ruleName(getRule(ctx, looking.grant, ruleId)) : null,
    }),
  )
}

const outcomeOf = (text: string | undefined): RunOutcome | undefined =>
  (Object.keys(RUN_OUTCOMES) as RunOutcome[]).find((outcome) => outcome === text)

function showRun(ctx: Context, request: Request, id: string, runId: string): Response {
  const looking = lookAt(ctx, request, id)
  const run = getRun(ctx, looking.grant, runId)
  const isThere = aboutRuleId(ctx, run.ruleId).projectId === id
  return page(runPage({ ...looking, run, isRuleThere: isThere }))
}
