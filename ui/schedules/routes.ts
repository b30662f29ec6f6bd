import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { messageOf } from '../../src/domain/errors.ts'
import { DEFAULT_ZONE, type Timing } from '../../src/domain/schedule.ts'
import { newScheduleBody, scheduleChangeBody } from '../../src/modules/schedules/model.ts'
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  previewRuns,
  runScheduleNow,
  schedulableRules,
} from '../../src/modules/schedules/service.ts'
import { page } from '../components/html.ts'
import { checkInput, type Form, UNREAD_BODY } from '../frame/form.ts'
import { queryOf } from '../frame/page-request.ts'
import {
  doneNotice,
  type Failed,
  type Intent,
  type Looking,
  lookAt,
  submitProjectForm,
} from '../frame/project-request.ts'
import { scheduleInput } from './form.ts'
import { inZone, type NextTimes } from './next-times.ts'
import { newSchedulePage, schedulePage } from './schedule.ts'
import { schedulesPage } from './schedules.ts'
import { schedulesHref } from './words.ts'

/** When rules of a project run by themselves. contract 14.6. */
export const schedulePages = (ctx: Context) =>
  new Elysia({ prefix: '/projects/:id/schedules' })
    .get('', ({ request, params }) => showAll(ctx, request, idOf(params)))
    .post('', ({ request, params }) => submitAll(ctx, request, idOf(params)), UNREAD_BODY)
    .get('/new', ({ request, params }) => showNew(ctx, request, idOf(params)))
    .post('/new', ({ request, params }) => submitNew(ctx, request, idOf(params)), UNREAD_BODY)
    .get('/:scheduleId', ({ request, params }) => showOne(ctx, request, params as At))
    .post('/:scheduleId', ({ request, params }) => submitOne(ctx, request, params as At), UNREAD_BODY)

type At = { id: string; scheduleId: string }
const idOf = (params: unknown): string => (params as At).id

const DONE = {
  created: 'The schedule was created.',
  saved: 'Saved.',
  running: 'It is running now.',
  paused: 'Paused: it does not run until you resume it.',
  resumed: 'It runs again.',
  deleted: 'The schedule was deleted.',
}

function showAll(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const notices = doneNotice(request, DONE)
  const schedules = listSchedules(ctx, looking.grant)
  return page(schedulesPage({ ...looking, schedules, failed, notices }), failed?.error.status)
}

/** What can be done with one, from both pages. `back`: the address to go on with. */
const actions = (
  ctx: Context,
  idIn: (form: Form) => string,
  back: (done: keyof typeof DONE) => string,
): Record<'run' | 'pause' | 'resume', Intent> => {
  const turn = (isEnabled: boolean, done: 'paused' | 'resumed'): Intent => ({
    run({ grant, form }) {
      changeSchedule(ctx, grant, idIn(form), { isEnabled })
      return back(done)
    },
  })
  return {
    run: {
      isOnce: true,
      async run({ grant, form }) {
        await runScheduleNow(ctx, grant, idIn(form))
        return back('running')
      },
    },
    pause: turn(false, 'paused'),
    resume: turn(true, 'resumed'),
  }
}

const submitAll = (ctx: Context, request: Request, id: string): Promise<Response> =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: actions(
      ctx,
      (form) => form.text('scheduleId'),
      (done) => schedulesHref(id, `?done=${done}`),
    ),
    show: (failed) => showAll(ctx, request, id, failed),
  })

type Shown = { failed?: Failed | undefined; typed?: Readonly<Record<string, string>> | undefined }

function showNew(ctx: Context, request: Request, id: string, { failed, typed }: Shown = {}): Response {
  const looking = lookAt(ctx, request, id, 'traffic:configure')
  const values = failed?.values ?? typed
  return page(
    newSchedulePage({
      ...looking,
      rules: schedulableRules(ctx, looking.grant),
      next: nextTimes(ctx, timingOf(request, values)),
      typed: values,
      failed,
    }),
    failed?.error.status,
  )
}

const submitNew = (ctx: Context, request: Request, id: string): Promise<Response> =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      create: {
        isOnce: true,
        run({ grant, form }) {
          const input = scheduleInput(form)
          checkInput(ctx, request, newScheduleBody, input)
          return schedulesHref(id, `/${createSchedule(ctx, grant, input).id}?done=created`)
        },
      },
      preview: { run: ({ form }) => showNew(ctx, request, id, { typed: form.all() }) },
    },
    show: (failed) => showNew(ctx, request, id, { failed }),
  })

function showOne(
  ctx: Context,
  request: Request,
  { id, scheduleId }: At,
  { failed, typed }: Shown = {},
): Response {
  const looking: Looking = lookAt(ctx, request, id)
  const schedule = getSchedule(ctx, looking.grant, scheduleId)
  const values = (failed?.intent === 'change' ? failed.values : undefined) ?? typed
  const rules = schedulableRules(ctx, looking.grant)
  return page(
    schedulePage({
      ...looking,
      schedule,
      rules,
      isRefused: rules.some((rule) => rule.id === schedule.ruleId && rule.isRefused),
      next: nextTimes(ctx, timingOf(request, values, schedule)),
      typed: values,
      failed,
      notices: doneNotice(request, DONE),
    }),
    failed?.error.status,
  )
}

const submitOne = (ctx: Context, request: Request, at: At): Promise<Response> => {
  const { id, scheduleId } = at
  const href = schedulesHref(id, `/${scheduleId}`)
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      ...actions(
        ctx,
        () => scheduleId,
        (done) => `${href}?done=${done}`,
      ),
      change: {
        run({ grant, form }) {
          const input = scheduleInput(form)
          checkInput(ctx, request, scheduleChangeBody, input)
          changeSchedule(ctx, grant, scheduleId, input)
          return `${href}?done=saved`
        },
      },
      preview: { run: ({ form }) => showOne(ctx, request, at, { typed: form.all() }) },
      delete: {
        isLast: true,
        run({ grant }) {
          deleteSchedule(ctx, grant, scheduleId)
          return schedulesHref(id, '?done=deleted')
        },
      },
    },
    show: (failed) => showOne(ctx, request, at, { failed }),
  })
}

/** What is typed, what a script asks for, or what is stored. */
function timingOf(
  request: Request,
  typed: Readonly<Record<string, string>> | undefined,
  stored: Timing = { cron: '', timezone: DEFAULT_ZONE },
): Timing {
  return {
    cron: typed?.['cron'] ?? queryOf(request, 'cron') ?? stored.cron,
    timezone: (typed?.['timezone'] ?? queryOf(request, 'timezone') ?? stored.timezone).trim() || DEFAULT_ZONE,
  }
}

function nextTimes(ctx: Context, timing: Timing): NextTimes {
  const { timezone } = timing
  if (timing.cron.trim() === '') return { timezone, runs: [], flaw: null }
  try {
    const runs = previewRuns(ctx, timing).runs.map((iso) => ({ iso, local: inZone(iso, timezone) }))
    return { timezone, runs, flaw: null }
  } catch (error) {
    return { timezone, runs: [], flaw: messageOf(error) }
  }
}
