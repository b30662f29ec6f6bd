import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { DAY_SECONDS } from '../../src/domain/durations.ts'
import { AppError } from '../../src/domain/errors.ts'
import { getDomain } from '../../src/modules/domains/service.ts'
import { deleteTraffic, findSplit, setTraffic, type TrafficView } from '../../src/modules/traffic/service.ts'
import { page } from '../components/html.ts'
import { UNREAD_BODY } from '../frame/form.ts'
import {
  aliasNamesOf,
  type Doing,
  doneNotice,
  type Failed,
  type Intent,
  lookAt,
  submitProjectForm,
} from '../frame/project-request.ts'
import { trafficPage } from './traffic.ts'
import { checkTraffic, readRule, readWeights } from './traffic-form.ts'

/** How a domain splits its traffic among aliases. */
export const trafficPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/domains/:domainId/traffic', ({ request, params }) =>
      showTraffic(ctx, request, params),
    )
    .post(
      '/projects/:id/domains/:domainId/traffic',
      ({ request, params }) => submitTraffic(ctx, request, params),
      UNREAD_BODY,
    )

type Place = { id: string; domainId: string }

function showTraffic(ctx: Context, request: Request, { id, domainId }: Place, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const notices = doneNotice(request, {
    saved: 'Saved. It applies from the next request on.',
    added: 'The rule was added.',
    moved: 'The rules were reordered.',
    removed: 'The rule was deleted.',
    stopped: 'All visitors see the same alias again.',
  })
  return page(
    trafficPage({
      ...looking,
      domain: getDomain(ctx, looking.grant, domainId),
      split: findSplit(ctx, looking.grant, domainId),
      aliasNames: aliasNamesOf(ctx, looking),
      failed,
      notices,
    }),
    failed?.error.status,
  )
}

const submitTraffic = (ctx: Context, request: Request, { id, domainId }: Place) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: intentsOf(ctx, request, domainId, `/projects/${id}/domains/${domainId}/traffic`),
    show: (failed) => showTraffic(ctx, request, { id, domainId }, failed),
  })

function intentsOf(ctx: Context, request: Request, domainId: string, place: string): Record<string, Intent> {
  /** Reads the stored split, changes it, and stores it. */
  const changing = (done: string, change: (split: TrafficView, doing: Doing) => TrafficView): Intent => ({
    run(doing) {
      const { grant } = doing
      const changed = change(findSplit(ctx, grant, domainId) ?? undivided(ctx, grant, domainId), doing)
      checkTraffic(ctx, request, changed)
      setTraffic(ctx, grant, domainId, changed)
      return `${place}?done=${done}`
    },
  })
  /** Each intent sends the rule's index and previous values, so a repetition is a second click. */
  const withRules = (done: string, change: (rules: Rules, doing: Doing) => Rules): Intent => ({
    ...changing(done, (split, doing) => ({ ...split, rules: change(split.rules, doing) })),
    isOnce: true,
  })
  return {
    weights: changing('saved', (split, { form }) => ({ ...split, ...readWeights(form) })),
    'add-rule': withRules('added', (rules, { form }) => [...rules, readRule(form)]),
    'change-rule': withRules('saved', (rules, doing) =>
      rules.with(chosenOf(rules, doing), readRule(doing.form)),
    ),
    'rule-up': withRules('moved', (rules, doing) => swapped(rules, chosenOf(rules, doing) - 1)),
    'rule-down': withRules('moved', (rules, doing) => swapped(rules, chosenOf(rules, doing))),
    'delete-rule': withRules('removed', (rules, doing) => rules.toSpliced(chosenOf(rules, doing), 1)),
    stop: {
      run({ grant }) {
        deleteTraffic(ctx, grant, domainId)
        return `${place}?done=stopped`
      },
    },
  }
}

type Rules = TrafficView['rules']

/** A domain without a split, expressed as a split. */
const undivided = (ctx: Context, grant: Doing['grant'], domainId: string): TrafficView => ({
  weights: [{ alias: getDomain(ctx, grant, domainId).alias, weight: 100 }],
  sticky: true,
  stickySeconds: DAY_SECONDS,
  rules: [],
})

/** The index of the form's rule. Throws 409 if somebody changed the rules since the page was rendered. */
function chosenOf(rules: Rules, { form }: Doing): number {
  const at = Number(form.text('at'))
  if (JSON.stringify(rules[at]) === form.text('was')) return at
  throw new AppError(
    'conflict',
    'Somebody changed the rules in the meantime. The page now shows the current rules; try again.',
  )
}

/** Swaps the rule at `at` and the next one. */
function swapped(rules: Rules, at: number): Rules {
  const [one, other] = [rules[at], rules[at + 1]]
  return one === undefined || other === undefined ? rules : rules.toSpliced(at, 2, other, one)
}
