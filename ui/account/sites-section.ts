import { badge } from '../components/badge.ts'
import { buttonClass } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { roleLabel } from '../components/role.ts'
import { type Column, table } from '../components/table.ts'
import { day } from '../components/time.ts'

/** A row of `GET /api/account/sites`. */
export type AccountSite = {
  projectId: string
  owner: string
  name: string
  displayName: string
  url: string
  role: string | null
  isOwner: boolean
  joinedAt: string
}

export const sitesSection = (sites: readonly AccountSite[]): Html =>
  card(
    {
      id: 'sites',
      title: 'My Sites',
      about: 'The sites you belong to. One account works on all of them.',
    },
    sites.length === 0
      ? html`<p class="muted">You do not belong to a site yet. A site's owner can invite you.</p>`
      : table<AccountSite>({ caption: 'My Sites', rows: sites, columns: COLUMNS }),
  )

const COLUMNS: Column<AccountSite>[] = [
  {
    label: 'Site',
    cell: (site) => html`
      <a href=${site.url}>${site.displayName}</a>
      <div class="muted small">${site.owner}/${site.name}</div>
    `,
  },
  { label: 'Your role', cell: (site) => (site.role === null ? badge('None') : badge(roleLabel(site.role))) },
  { label: 'Member since', cell: (site) => day(site.joinedAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: (site) => (site.isOwner ? staying(site) : leave(site)),
  },
]

/** An owner cannot leave (spec: States and transitions); the button says so instead of failing. */
function staying(site: AccountSite): Html {
  const reasonId = `stay-${site.projectId}`
  return html`
    <div class="with-reason">
      <button
        type="button"
        class=${buttonClass('secondary', true)}
        disabled
        aria-describedby=${reasonId}
        aria-label=${`Leave ${site.displayName}`}
      >Leave</button>
      <p class="hint" id=${reasonId}>You own it. Transfer ownership first.</p>
    </div>
  `
}

const leave = (site: AccountSite): Html =>
  confirmDialog(
    {
      id: `leave-${site.projectId}`,
      opener: 'Leave',
      accessibleName: `Leave ${site.displayName}`,
      title: `Leave ${site.displayName}?`,
      text: "You lose access immediately. The site's owner can invite you again. Your account is kept.",
      confirm: 'Leave the site',
    },
    html`${hidden('intent', 'leave')}${hidden('projectId', site.projectId)}`,
  )
