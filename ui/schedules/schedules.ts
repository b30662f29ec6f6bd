import type { ScheduleView } from '../../src/modules/schedules/service.ts'
import { button, linkButton } from '../components/button.ts'
import { emptyState } from '../components/empty-state.ts'
import { formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { nextText, schedulesHref, stateBadge } from './words.ts'

type SchedulesPageProps = ProjectPageBase & {
  schedules: readonly ScheduleView[]
  failed?: Failed | undefined
}

/** When rules run by themselves. Sends `intent=run`, `pause` or `resume` with `scheduleId`. */
export const schedulesPage = (props: SchedulesPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'schedules',
      title: 'Schedules',
      about: html`<p class="muted">Rules that run by themselves, at the times of a cron expression.</p>`,
      aside:
        props.can.configureTraffic &&
        linkButton({ label: 'New schedule', href: schedulesHref(props.project.id, '/new') }),
    },
    html`
      ${formError(props.failed?.error)}
      ${
        props.schedules.length === 0
          ? emptyState({
              icon: 'rules',
              title: 'No schedules yet',
              text: 'A schedule runs a rule with a pipeline by itself, such as every quarter of an hour.',
            })
          : table<ScheduleView>({ caption: 'Schedules', rows: props.schedules, columns: columnsOf(props) })
      }
    `,
  )

const columnsOf = ({ project, can }: SchedulesPageProps): Column<ScheduleView>[] => [
  {
    label: 'Schedule',
    cell: ({ id, name, rule }) => html`
      <a href=${schedulesHref(project.id, `/${id}`)}><strong>${name}</strong></a>
      <div class="muted small">${rule}</div>
    `,
  },
  {
    label: 'When',
    cell: ({ cron, timezone }) => html`<code>${cron}</code><div class="muted small">${timezone}</div>`,
  },
  { label: 'Next', cell: nextText },
  { label: 'Last', cell: lastRun },
  ...(can.configureTraffic
    ? [{ label: 'Actions', hideLabel: true, align: 'end', cell: actionsOf } as const]
    : []),
]

const lastRun = (schedule: ScheduleView): Html => html`
  ${stateBadge(schedule)} ${time(schedule.lastRunAt)}
  ${schedule.lastError !== null && html`<div class="small">${schedule.lastError}</div>`}
`

/** Run now, and pause or resume. */
export const actionsOf = ({ id, name, isEnabled, isRunning }: ScheduleView): Html => html`
  <form method="post" class="actions">
    ${hidden('scheduleId', id)}
    ${button({ label: 'Run now', name: 'intent', value: 'run', kind: 'secondary', small: true, disabled: isRunning, accessibleName: `Run now: ${name}` })}
    ${
      isEnabled
        ? button({
            label: 'Pause',
            name: 'intent',
            value: 'pause',
            kind: 'secondary',
            small: true,
            accessibleName: `Pause ${name}`,
          })
        : button({
            label: 'Resume',
            name: 'intent',
            value: 'resume',
            kind: 'secondary',
            small: true,
            accessibleName: `Resume ${name}`,
          })
    }
  </form>
`
