import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { authorize, type Grant } from '../../src/modules/auth/authorize.ts'
import { deploymentNames } from '../../src/modules/deployments/service.ts'
import { quotaBody } from '../../src/modules/quotas/model.ts'
import { changeQuota, getQuota } from '../../src/modules/quotas/service.ts'
import { policyBody } from '../../src/modules/retention/model.ts'
import {
  changeRetention,
  getRetention,
  orderRun,
  type Policy,
  type RetentionView,
} from '../../src/modules/retention/service.ts'
import { page } from '../components/html.ts'
import { checkInput, type Form, pageNumberOf, UNREAD_BODY } from '../frame/form.ts'
import { queryOf } from '../frame/page-request.ts'
import { projectHref } from '../frame/project-frame.ts'
import { doneNotice, type Failed, lookAt, queryText, submitProjectForm } from '../frame/project-request.ts'
import { retentionPage } from './retention.ts'

/** Which deployments of a project stay, and how much it may store. contract 16 §3. */
export const retentionPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/retention', ({ request, params }) => show(ctx, request, params.id))
    .post('/projects/:id/retention', ({ request, params }) => submit(ctx, request, params.id), UNREAD_BODY)

async function show(ctx: Context, request: Request, id: string, failed?: Failed): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const { grant, can } = looking
  const notices = doneNotice(request, {
    saved: 'The rules were saved.',
    run: 'The run is done.',
    quota: 'The quota was saved.',
  })
  const retention = getRetention(ctx, grant)
  const tried = triedBy(request, retention)
  const trial = can.manageRetention ? await trialOf(ctx, grant, tried, pageAsked(request)) : undefined
  const quota = await getQuota(ctx, grant, id)
  return page(retentionPage({ ...looking, retention, quota, trial, failed, notices }), failed?.error.status)
}

async function trialOf(ctx: Context, grant: Grant, tried: Policy, page: number) {
  const run = await orderRun(ctx, grant, { dryRun: true, ...tried })
  const ids = run.removed.map(({ id }) => id)
  return { tried, run, page, names: Object.fromEntries(deploymentNames(ctx, ids)) }
}

const pageAsked = (request: Request): number => pageNumberOf(queryOf(request, 'page'))

/** The rules of the query; what is not there is as stored, 0 is off. */
function triedBy(request: Request, stored: RetentionView): Policy {
  const rule = (name: keyof Policy, most: number): number | null => {
    const text = queryOf(request, name)
    if (text === undefined || !/^\d{1,5}$/.test(text) || Number(text) > most) return stored[name]
    return Number(text) === 0 ? null : Number(text)
  }
  return { keepLast: rule('keepLast', 10_000), keepDays: rule('keepDays', 3650) }
}

const submit = (ctx: Context, request: Request, id: string): Promise<Response> => {
  const href = projectHref(id, '/retention')
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'retention:manage',
    intents: {
      save: {
        run({ grant, form }) {
          changeRetention(ctx, grant, rulesOf(ctx, request, form))
          return `${href}?done=saved`
        },
      },
      try: {
        run({ form }) {
          const { keepLast, keepDays } = rulesOf(ctx, request, form)
          return `${href}${queryText({ keepLast: keepLast ?? 0, keepDays: keepDays ?? 0 })}#would-remove`
        },
      },
      run: {
        isOnce: true,
        async run({ grant }) {
          await orderRun(ctx, grant, { dryRun: false })
          return `${href}?done=run`
        },
      },
      quota: {
        async run({ caller, form }) {
          const admin = authorize(ctx, caller, 'workspace:administer', undefined, false)
          const limits = numbersOf(form, ['bytes', 'deployments', 'files'])
          checkInput(ctx, request, quotaBody, limits)
          await changeQuota(ctx, admin, id, limits)
          return `${href}?done=quota`
        },
      },
    },
    show: (failed) => show(ctx, request, id, failed),
  })
}

function rulesOf(ctx: Context, request: Request, form: Form): Policy {
  const rules = numbersOf(form, ['keepLast', 'keepDays'])
  checkInput(ctx, request, policyBody, rules)
  return rules
}

/** Null for an empty field. What is no number stays one that the check refuses. */
const numbersOf = <Name extends string>(form: Form, names: readonly Name[]): Record<Name, number | null> =>
  Object.fromEntries(
    names.map((name) => {
      const text = form.text(name).trim()
      return [name, text === '' ? null : Number(text)]
    }),
  ) as Record<Name, number | null>
