import type { ScheduleView } from '../../src/modules/schedules/service.ts'
import { badge } from '../components/badge.ts'
import { type Html, html } from '../components/html.ts'
import { time } from '../components/time.ts'
import { projectHref } from '../frame/project-frame.ts'

export const schedulesHref = (projectId: string, rest = ''): string =>
  projectHref(projectId, `/schedules${rest}`)

/** What it does at the moment, or how it ended last. */
export function stateBadge({ isRunning, lastStatus }: ScheduleView): Html | false {
  if (isRunning) return badge('Running')
  switch (lastStatus) {
    case 'ok':
      return badge('OK', 'good')
    case 'failed':
      return badge('Failed', 'bad')
    case 'skipped':
      return badge('Skipped', 'warn', 'The run before had not ended')
    case 'interrupted':
      return badge('Interrupted', 'warn')
    case null:
      return false
  }
}

/** When it runs next, or why it does not. */
export const nextText = ({ nextRunAt, isEnabled }: ScheduleView): Html =>
  nextRunAt === null
    ? html`<span class="muted">${isEnabled ? 'Never: a preview copy' : 'Paused'}</span>`
    : time(nextRunAt)
