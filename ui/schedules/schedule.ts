import type { ScheduleView } from '../../src/modules/schedules/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { type RuleChoice, scheduleFields } from './form.ts'
import { type NextTimes, nextTimesCard } from './next-times.ts'
import { actionsOf } from './schedules.ts'
import { nextText, schedulesHref, stateBadge } from './words.ts'

type FormPageProps = ProjectPageBase & {
  rules: readonly RuleChoice[]
  next: NextTimes
  typed?: Readonly<Record<string, string>> | undefined
  failed?: Failed | undefined
}

/** Sends `intent=create` or `preview` with the fields of `scheduleFields`. */
export const newSchedulePage = (props: FormPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'schedules',
      title: 'New schedule',
      crumbs: [{ label: 'Schedules', href: schedulesHref(props.project.id) }],
    },
    html`
      ${card(
        { id: 'schedule', title: 'Schedule' },
        props.rules.length === 0
          ? html`<p class="muted">A schedule runs a rule with a pipeline, and the project has none whose path has no *. <a href=${projectHref(props.project.id, '/rules')}>Make one first</a>.</p>`
          : formOf(
              'create',
              'Create schedule',
              scheduleFields({ ...props, typed: props.typed, failed: props.failed }),
            ),
      )}
      ${props.rules.length > 0 && nextTimesCard(props.next)}
    `,
  )

type SchedulePageProps = FormPageProps & {
  schedule: ScheduleView
  /** Its rule asks for somebody who is signed in. */
  isRefused: boolean
}

/** One schedule. Sends `intent=change`, `preview`, `run`, `pause`, `resume` or `delete`. */
export const schedulePage = (props: SchedulePageProps): Html => {
  const { schedule, project, can, failed } = props
  const isOfForm = failed?.intent === 'change'
  return projectFrame(
    props,
    {
      tab: 'schedules',
      title: schedule.name,
      crumbs: [{ label: 'Schedules', href: schedulesHref(project.id) }],
      aside: can.configureTraffic && actionsOf(schedule),
    },
    html`
      ${!isOfForm && formError(failed?.error)}
      ${props.isRefused && notice({ tone: 'warn', message: 'The rule has auth_required, which refuses a scheduled run: nobody is signed in.' })}
      ${card({ id: 'state', title: 'Runs' }, facts(schedule, project.id))}
      ${can.configureTraffic && schedule.source === null && settings(props)}
      ${nextTimesCard(props.next)}
      ${can.configureTraffic && schedule.source === null && removal(schedule)}
    `,
  )
}

const facts = (schedule: ScheduleView, projectId: string): Html =>
  details([
    ['Rule', html`<a href=${projectHref(projectId, `/rules/${schedule.ruleId}`)}>${schedule.rule}</a>`],
    ['When', html`<code>${schedule.cron}</code> (${schedule.timezone})`],
    ['Next', nextText(schedule)],
    ['Last', html`${stateBadge(schedule)} ${time(schedule.lastRunAt)}`],
    ['Took', schedule.lastDurationMs !== null && `${Math.round(schedule.lastDurationMs)} ms`],
    ['Error', schedule.lastError],
    ['What it missed', schedule.catchUp === 'once' ? 'Runs once when the server is back' : 'Is forgotten'],
    [
      'From',
      schedule.source !== null &&
        `A push${schedule.source.path === null ? '' : ` of ${schedule.source.path}`}: change its file and push again`,
    ],
    ['Description', schedule.description],
    [
      'Runs',
      html`<a href=${projectHref(projectId, `/rules/runs?rule=${schedule.ruleId}`)}>In the run log</a>`,
    ],
  ])

const settings = (props: SchedulePageProps): Html =>
  card(
    { id: 'settings', title: 'Settings' },
    formOf(
      'change',
      'Save',
      scheduleFields({
        rules: props.rules,
        schedule: props.schedule,
        typed: props.typed,
        failed: props.failed?.intent === 'change' ? props.failed : undefined,
      }),
    ),
  )

const formOf = (intent: string, label: string, fields: Html): Html => html`
  <form method="post" class="stack narrow" data-schedule>
    ${fields}
    <div class="actions">
      ${button({ label, name: 'intent', value: intent })}
      ${button({ label: 'Show the next times', name: 'intent', value: 'preview', kind: 'secondary', skipsChecks: true })}
    </div>
  </form>
`

const removal = ({ name }: ScheduleView): Html =>
  card(
    { id: 'removal', title: 'Removal' },
    confirmDialog(
      {
        id: 'delete',
        opener: 'Delete',
        openerKind: 'danger',
        accessibleName: `Delete ${name}`,
        title: `Delete ${name}?`,
        text: 'Its rule stays, and is not run by it any more.',
        confirm: 'Delete the schedule',
      },
      hidden('intent', 'delete'),
    ),
  )
