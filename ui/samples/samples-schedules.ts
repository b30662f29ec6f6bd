import type { ScheduleView } from '../../src/modules/schedules/service.ts'
import { newSchedulePage, schedulePage } from '../schedules/schedule.ts'
import { schedulesPage } from '../schedules/schedules.ts'
import { sample } from './sample.ts'
import { at, owner, viewer } from './sample-data.ts'

const schedule: ScheduleView = {
  id: 's1',
  projectId: 'p1',
  ruleSetId: null,
  ruleId: 'r3',
  rule: 'POST /api/refresh',
  name: 'refresh-feeds',
  cron: '*/15 * * * *',
  timezone: 'Europe/Berlin',
  isEnabled: true,
  catchUp: 'once',
  description: 'Fetches the feeds of the reader',
  nextRunAt: '2026-11-20T12:15:00.000Z',
  lastRunAt: at,
  lastStatus: 'failed',
  lastError: 'The pipeline answered 502',
  lastDurationMs: 812.5,
  isRunning: false,
  source: null,
  createdAt: at,
  updatedAt: at,
}
const pushed: ScheduleView = {
  ...schedule,
  id: 's2',
  name: 'nightly',
  isEnabled: false,
  nextRunAt: null,
  lastStatus: 'interrupted',
  source: { repo: 'acme/site', path: '.svc/proxy-rules/site', gitSha: 'abc1234', syncedAt: at },
}
const fresh: ScheduleView = {
  ...schedule,
  id: 's3',
  name: 'fresh',
  isRunning: true,
  lastRunAt: null,
  lastStatus: null,
  lastError: null,
  lastDurationMs: null,
}
const rules = [{ id: 'r3', name: 'POST /api/refresh', isRefused: false }]
const next = {
  timezone: 'Europe/Berlin',
  runs: [{ iso: '2026-11-20T12:15:00.000Z', local: 'Fri, 20 Nov 2026, 13:15 GMT+1' }],
  flaw: null,
}
const nothing = { timezone: 'UTC', runs: [], flaw: null }
const wrong = {
  intent: 'create',
  error: {
    message: 'cron: has 6 fields',
    details: [{ path: 'cron', message: 'has 6 fields' }],
    status: 400,
  },
  values: { name: 'x', cron: '* * * * * *', timezone: 'UTC' },
}

export const scheduleSamples = [
  sample('schedules', schedulesPage, { ...owner, schedules: [schedule, pushed, fresh] }),
  sample('schedules-seen', schedulesPage, { ...viewer, schedules: [schedule] }),
  sample('schedules-none', schedulesPage, { ...owner, schedules: [] }),
  sample('schedule', schedulePage, { ...owner, schedule, rules, next, isRefused: true }),
  sample('schedule-pushed', schedulePage, { ...owner, schedule: pushed, rules, next, isRefused: false }),
  sample('schedule-seen', schedulePage, { ...viewer, schedule: fresh, rules, next, isRefused: false }),
  sample('schedule-new', newSchedulePage, { ...owner, rules, next: nothing }),
  sample('schedule-new-wrong', newSchedulePage, {
    ...owner,
    rules,
    next: { ...nothing, flaw: 'cron: has 6 fields' },
    typed: wrong.values,
    failed: wrong,
  }),
  sample('schedule-new-without-rules', newSchedulePage, { ...owner, rules: [], next: nothing }),
]
