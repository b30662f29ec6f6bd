import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import type { Grant } from '../auth/authorize.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import {
  newScheduleBody,
  previewAnswer,
  previewQuery,
  runAnswer,
  scheduleChangeBody,
  scheduleList,
  scheduleView,
} from './model.ts'
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  previewRuns,
  requireSchedule,
  runScheduleNow,
} from './service.ts'

const onProject = (ctx: Context) => ({ on: ({ params }: PathInput) => aboutProject(ctx, params['id']) })
const mayRead = (ctx: Context) => ({ action: 'project:read', ...onProject(ctx) }) as const
const mayChange = (ctx: Context) => ({ action: 'traffic:configure', ...onProject(ctx) }) as const

/** When rules run by themselves. contract 14.6; rights: Configure traffic. */
export const scheduleRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/projects/:id/schedules', tags: ['Schedules'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) =>
        belowOrProject(ctx, grant, params.id, () => ({ schedules: listSchedules(ctx, grant) })),
      {
        may: mayBelow(ctx, 'schedules', 'project:read'),
        response: t.Union([scheduleList, projectView]),
        detail: { summary: 'Schedules of a project, by name' },
      },
    )
    .post('/', ({ grant, body, status }) => status(201, createSchedule(ctx, grant, body)), {
      may: mayChange(ctx),
      body: newScheduleBody,
      response: { 201: scheduleView },
      detail: {
        summary: 'Run a rule by a schedule',
        description:
          'The rule is a pipeline without `*`. `cron` has five fields, or is `@hourly`, `@daily`, `@weekly`, `@monthly` or ' +
          '`@yearly`. `catchUp: "once"` makes up for times that passed while the server was down.',
      },
    })
    .get('/preview', ({ query }) => previewRuns(ctx, query), {
      may: mayRead(ctx),
      query: previewQuery,
      response: previewAnswer,
      detail: { summary: 'The next times of a cron expression in a time zone' },
    })
    .use(routesOfOne(ctx))

const routesOfOne = (ctx: Context) => {
  const mustFind = ({ params }: PathInput, grant: Grant) =>
    requireSchedule(ctx.db.orm, grant, params['scheduleId'])
  return new Elysia({ prefix: '/:scheduleId' })
    .use(guard(ctx))
    .get('/', ({ grant, params }) => getSchedule(ctx, grant, params.scheduleId), {
      may: { ...mayRead(ctx), mustFind },
      response: scheduleView,
      detail: { summary: 'A schedule, with its last and next run' },
    })
    .patch('/', ({ grant, params, body }) => changeSchedule(ctx, grant, params.scheduleId, body), {
      may: { ...mayChange(ctx), mustFind },
      body: scheduleChangeBody,
      response: scheduleView,
      detail: { summary: 'Change a schedule; one that a push made can only be paused and resumed' },
    })
    .delete(
      '/',
      ({ grant, params, status }) => {
        deleteSchedule(ctx, grant, params.scheduleId)
        return status(204, undefined)
      },
      {
        may: { ...mayChange(ctx), mustFind },
        response: { 204: t.Undefined() },
        detail: { summary: 'Delete a schedule that was made by hand' },
      },
    )
    .post(
      '/run',
      async ({ grant, params, status }) => status(202, await runScheduleNow(ctx, grant, params.scheduleId)),
      {
        may: { ...mayChange(ctx), mustFind },
        response: { 202: runAnswer },
        detail: { summary: 'Run the rule of a schedule now' },
      },
    )
}
