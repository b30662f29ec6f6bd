import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { describeUserAgent } from '../components/describe-user-agent.ts'
import { hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'

export type AccountSession = {
  id: string
  current: boolean
  kind: 'browser' | 'cli'
  /** What a device of `svc login` calls itself; null for a browser. */
  name: string | null
  /** The only site where this session works; null if it works everywhere. */
  host: string | null
  ip: string | null
  userAgent: string | null
  lastSeenAt: string
}

export const sessionsSection = (sessions: readonly AccountSession[]): Html =>
  card(
    {
      id: 'sessions',
      title: 'Sessions',
      about: 'Where you are signed in. Revoke any session you do not recognise, and change your password.',
    },
    table<AccountSession>({ caption: 'Sessions', rows: sessions, columns: COLUMNS }),
  )

const COLUMNS: Column<AccountSession>[] = [
  {
    label: 'Where',
    cell: (session) => html`
      ${nameOf(session)} ${session.kind === 'cli' && badge('Command line')} ${session.current && badge('This one', 'good')}
      ${session.host !== null && html`<div class="muted small">Only on ${session.host}</div>`}
    `,
  },
  { label: 'Address', cell: (session) => html`<code>${session.ip ?? 'unknown'}</code>` },
  { label: 'Last seen', cell: (session) => time(session.lastSeenAt) },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: (session) => !session.current && revokeForm(session),
  },
]

const nameOf = ({ name, userAgent }: AccountSession): string => name ?? describeUserAgent(userAgent)

function revokeForm(session: AccountSession): Html {
  const on = session.host === null ? '' : ` on ${session.host}`
  return html`
    <form method="post">
      ${hidden('intent', 'session-revoke')} ${hidden('sessionId', session.id)}
      ${button({
        label: 'Revoke',
        kind: 'secondary',
        small: true,
        accessibleName: `Revoke ${nameOf(session)}${on}, last seen from ${session.ip ?? 'an unknown address'}`,
      })}
    </form>
  `
}
