import type { Quota, QuotaView } from '../../src/modules/quotas/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { countOf, formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { field, fieldError, formError, hidden } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { progress } from '../components/progress.ts'
import { formatSize } from '../components/size.ts'
import type { Failed } from '../frame/project-request.ts'

const KINDS = ['bytes', 'deployments', 'files'] as const
type Kind = (typeof KINDS)[number]

const LABELS: Record<Kind, string> = { bytes: 'Stored', deployments: 'Deployments', files: 'Files' }
const amount = (kind: Kind, value: number): string =>
  kind === 'bytes' ? formatSize(value) : formatCount(value)

const ONE = { deployments: 'deployment', files: 'file' }

/** A few words for a table: `10 MB, 5 deployments`. */
export const quotaText = (quota: Quota): string =>
  KINDS.flatMap((kind) => {
    const limit = quota[kind]
    if (limit === null) return []
    return kind === 'bytes' ? formatSize(limit) : countOf(limit, ONE[kind])
  }).join(', ')

/** What is used of each limit; without a limit only what is used. */
export const usage = ({ quota, used }: QuotaView): Html => html`
  ${KINDS.map((kind) => {
    const limit = quota[kind]
    if (limit === null) return details([[LABELS[kind], amount(kind, used[kind])]])
    return progress({
      id: `used-${kind}`,
      label: LABELS[kind],
      value: Math.min(used[kind], limit),
      max: Math.max(limit, 1),
      text: `${amount(kind, used[kind])} of ${amount(kind, limit)}${used[kind] > limit ? ': over the quota' : ''}`,
    })
  })}
`

type QuotaCardProps = { view: QuotaView; canChange: boolean; failed: Failed | undefined }

/** What the project stores, and for global admins the form of its limits. Sends `intent=quota`. */
export const quotaCard = ({ view, canChange, failed }: QuotaCardProps): Html =>
  card(
    {
      id: 'quota',
      title: 'Quota',
      about: 'Each content counts once, however many deployments have it. Files count in each.',
    },
    html`<div class="stack narrow">${usage(view)} ${canChange && quotaForm(view.quota, failed)}</div>`,
  )

const HINTS: Partial<Record<Kind, Content>> = { bytes: 'Such as 10737418240 for 10 GiB.' }

const quotaForm = (quota: Quota, failed: Failed | undefined): Html => html`
  <form method="post" class="stack">
    ${formError(failed?.error)} ${hidden('intent', 'quota')}
    ${KINDS.map((kind) =>
      field({
        name: kind,
        label: kind === 'bytes' ? 'Most bytes' : `Most ${kind}`,
        type: 'number',
        inputmode: 'numeric',
        required: false,
        value: failed?.values[kind] ?? (quota[kind] === null ? '' : String(quota[kind])),
        error: fieldError(failed?.error, kind),
        hint: HINTS[kind],
      }),
    )}
    <p class="muted">An empty field is no limit. A lower one deletes nothing; it refuses what would need more.</p>
    <div>${button({ label: 'Save', accessibleName: 'Save the quota', kind: 'secondary' })}</div>
  </form>
`
