import { type Static, t } from 'elysia'
import { MAX_DESCRIPTION } from '../../domain/description.ts'
import { CATCH_UPS, SCHEDULE_NAME, SCHEDULE_NAME_RULE } from '../../domain/schedule.ts'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'

const catchUp = t.Union([t.Literal('none'), t.Literal('once')], { error: CATCH_UPS.join(' or ') })

const timing = {
  cron: t.String({
    maxLength: 1000,
    error: 'Five fields: minute, hour, day of month, month, day of week',
    examples: ['0 6 * * 1-5'],
  }),
  timezone: t.Optional(
    t.String({ maxLength: 1000, error: 'A time zone of the IANA database', examples: ['Europe/Berlin'] }),
  ),
}

const name = t.String({
  pattern: `^${SCHEDULE_NAME}$`,
  error: SCHEDULE_NAME_RULE,
  examples: ['refresh-feeds'],
})

const settings = {
  isEnabled: t.Optional(t.Boolean({ error: 'true or false' })),
  catchUp: t.Optional(catchUp),
  description: t.Optional(
    orNull(
      t.String({
        maxLength: MAX_DESCRIPTION,
        error: `A text of at most ${MAX_DESCRIPTION} characters, or null`,
      }),
    ),
  ),
}

const ruleId = t.String({ error: 'The id of a rule with a pipeline' })

export const newScheduleBody = t.Object({ name, ...timing, ruleId, ...settings })
export type NewSchedule = InputOf<typeof newScheduleBody>

export const scheduleChangeBody = t.Partial(t.Object({ name, ...timing, ruleId, ...settings }))
export type ScheduleChange = InputOf<typeof scheduleChangeBody>

/** As a push has it; the file of the same name says the same. */
export const pushedSchedule = t.Object({
  name,
  ...timing,
  rule: t.String({ maxLength: 4096, error: 'A rule by method and path', examples: ['POST /api/refresh'] }),
  ...settings,
})
export type PushedSchedule = InputOf<typeof pushedSchedule>

const text = t.String()
const textOrNull = orNull(text)

export const scheduleView = t.Object({
  id: t.String({ format: 'uuid' }),
  projectId: t.String({ format: 'uuid' }),
  ruleSetId: textOrNull,
  ruleId: text,
  /** Method and path. */
  rule: text,
  name: text,
  cron: text,
  timezone: text,
  isEnabled: t.Boolean(),
  catchUp,
  description: textOrNull,
  /** Null while it is paused, and of a preview copy. */
  nextRunAt: textOrNull,
  lastRunAt: textOrNull,
  lastStatus: orNull(
    t.Union([t.Literal('ok'), t.Literal('failed'), t.Literal('skipped'), t.Literal('interrupted')]),
  ),
  lastError: textOrNull,
  lastDurationMs: orNull(t.Number()),
  isRunning: t.Boolean(),
  /** Where its set is managed; null if it was made by hand. */
  source: orNull(t.Object({ repo: textOrNull, path: textOrNull, gitSha: textOrNull, syncedAt: textOrNull })),
  createdAt: text,
  updatedAt: text,
})
export type ScheduleView = Static<typeof scheduleView>

/** A schedule as a push has it. */
export const exportedSchedule = t.Object({
  name: text,
  cron: text,
  timezone: text,
  rule: text,
  isEnabled: t.Boolean(),
  catchUp,
  description: textOrNull,
})
export type ExportedSchedule = Static<typeof exportedSchedule>

export const scheduleList = t.Object({ schedules: t.Array(scheduleView) })

export const runAnswer = t.Object({ scheduleId: text, firedAt: text })

export const previewQuery = t.Object({
  cron: t.String({ maxLength: 1000, error: 'Give cron', examples: ['0 6 * * 1-5'] }),
  timezone: t.Optional(t.String({ maxLength: 1000 })),
  from: t.Optional(t.String({ description: 'The times after this one; without it, after now' })),
  count: t.Optional(t.String({ description: '1 to 50; without it, 5' })),
})
export type PreviewQuery = InputOf<typeof previewQuery>

export const previewAnswer = t.Object({ runs: t.Array(text) })

const names = t.Array(text)

/** What a push did to the schedules of its set, by name. */
export const appliedSchedules = t.Object({
  created: names,
  updated: names,
  deleted: names,
  unchanged: names,
  pruneCandidates: names,
})
export type AppliedSchedules = Static<typeof appliedSchedules>
