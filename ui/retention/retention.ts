import type { QuotaView } from '../../src/modules/quotas/service.ts'
import type { RetentionView } from '../../src/modules/retention/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { countOf } from '../components/chart.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { field, fieldError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { formatSize } from '../components/size.ts'
import { time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { quotaCard } from './quota.ts'
import { type WouldRemoveProps, wouldRemove } from './would-remove.ts'

type RetentionPageProps = ProjectPageBase & {
  retention: RetentionView
  quota: QuotaView
  /** For those who may change the rules: the rules to try, and what a run by them would do. */
  trial?: Omit<WouldRemoveProps, 'projectId'> | undefined
  failed?: Failed | undefined
}

/** Which deployments stay, and how much may be stored. Sends `save`, `run` or `quota`. */
export const retentionPage = (props: RetentionPageProps): Html => {
  const { project, can, retention, quota, trial, failed, user } = props
  return projectFrame(
    props,
    { tab: 'retention', title: 'Retention' },
    html`
      ${can.manageRetention ? rulesCard(props) : card({ id: 'rules', title: 'Which deployments stay' }, rulesText(retention))}
      ${trial !== undefined && wouldRemove({ projectId: project.id, ...trial })}
      ${lastRun(props)}
      ${quotaCard({ view: quota, canChange: user.role === 'admin', failed: failed?.intent === 'quota' ? failed : undefined })}
    `,
  )
}

const ALWAYS =
  'What an alias shows or showed just before, what belongs to a preview that has not ended, and what is new always stays.'

function rulesCard({ retention, trial, failed }: RetentionPageProps): Html {
  const rejected = failed?.intent === 'save' || failed?.intent === 'try' ? failed : undefined
  const shown = trial?.tried ?? retention
  const rule = (name: 'keepLast' | 'keepDays', label: string, hint: string, most: number) =>
    field({
      name,
      label,
      type: 'number',
      inputmode: 'numeric',
      required: false,
      value: rejected?.values[name] ?? (shown[name] === null ? '' : String(shown[name])),
      error: fieldError(rejected?.error, name),
      hint: `${hint}, 1 to ${most}. Empty: this rule is off.`,
    })
  return card(
    {
      id: 'rules',
      title: 'Which deployments stay',
      about: `A deployment goes when every rule that is on says so, daily at 03:00 UTC. ${ALWAYS}`,
    },
    html`
      <form method="post" class="stack narrow" data-retention>
        ${formError(rejected?.error)} ${rule('keepLast', 'Keep the newest', 'A number of deployments', 10_000)}
        ${rule('keepDays', 'Keep for days', 'A number of days', 3650)}
        <div class="actions">
          ${button({ label: 'Save', accessibleName: 'Save the rules', name: 'intent', value: 'save' })}
          ${button({ label: 'Show what would go', kind: 'secondary', name: 'intent', value: 'try' })}
        </div>
      </form>
    `,
  )
}

const rulesText = ({ keepLast, keepDays }: RetentionView): Html =>
  keepLast === null && keepDays === null
    ? html`<p class="muted">No rule is set: everything stays.</p>`
    : details([
        ['Newest', keepLast !== null && countOf(keepLast, 'deployment')],
        ['Younger than', keepDays !== null && countOf(keepDays, 'day')],
      ])

const lastRun = ({ can, retention }: RetentionPageProps): Html =>
  card(
    { id: 'last-run', title: 'Last run' },
    html`
      ${
        retention.lastRun === null
          ? html`<p class="muted">There was none yet.</p>`
          : details([
              ['Ended', time(retention.lastRun.at)],
              ['Removed', countOf(retention.lastRun.removedCount, 'deployment')],
              ['Came back', formatSize(retention.lastRun.bytes)],
            ])
      }
      ${
        can.manageRetention &&
        (retention.keepLast !== null || retention.keepDays !== null) &&
        confirmDialog(
          {
            id: 'run-now',
            opener: 'Run now',
            openerKind: 'secondary',
            title: 'Remove what the saved rules do not keep?',
            text: 'The deployments are deleted with their files. This cannot be undone.',
            confirm: 'Remove them',
          },
          hidden('intent', 'run'),
        )
      }
    `,
  )
