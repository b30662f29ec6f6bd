import type { LoginProvider } from '../auth/sign-in.ts'
import type { FormError } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { mainNav } from '../components/main-nav.ts'
import type { Notice } from '../components/notice.ts'
import type { PageUser } from '../components/user-menu.ts'
import { appLayout } from '../frame/layout.ts'
import { type Connection, connectionsSection } from './connections-section.ts'
import { type MfaState, mfaSection } from './mfa-section.ts'
import { type MailNotices, noticesSection } from './notices-section.ts'
import { passwordSection } from './password-section.ts'
import { type AccountSession, sessionsSection } from './sessions-section.ts'
import { type AccountSite, sitesSection } from './sites-section.ts'

/** What the forms of the page send as `intent`, with their other fields. */
export type AccountIntent =
  | 'password' // currentPassword, newPassword
  | 'mfa-start'
  | 'mfa-confirm' // code
  | 'mfa-disable' // password
  | 'connection-remove' // provider
  | 'session-revoke' // sessionId
  | 'notices' // the ids of those that are on
  | 'leave' // projectId

export type AccountPageData = {
  user: PageUser
  mfa: MfaState
  connections: readonly Connection[]
  /** All sign-in methods. The page offers only those that are not connected yet. */
  providers: readonly LoginProvider[]
  sessions: readonly AccountSession[]
  sites: readonly AccountSite[]
  mailNotices: MailNotices
  notices?: readonly Notice[]
  /** The form that was refused, and why. */
  failed?: { intent: AccountIntent; error: FormError } | undefined
}

/** The account hub: `/account` on the admin host. */
export function accountPage(data: AccountPageData): Html {
  const errorOf = (intent: AccountIntent) => (data.failed?.intent === intent ? data.failed.error : undefined)
  return appLayout(
    {
      title: 'Your account',
      user: data.user,
      nav: mainNav(data.user, 'account'),
      help: 'your-account',
      notices: [...(data.notices ?? []), ...pageFailure(data)],
    },
    html`
      <header class="page-head">
        <div>
          <h1>Your account</h1>
          <p class="muted">Signed in as <strong>${data.user.email}</strong></p>
        </div>
        <form method="post" action="/signout">
          <button type="submit" class="btn btn-secondary">Sign out</button>
        </form>
      </header>
      <div class="cards">
        ${sitesSection(data.sites)}
        ${passwordSection(data.user.email, errorOf('password'))}
        ${mfaSection(data.user.email, data.mfa, {
          confirm: errorOf('mfa-confirm'),
          disable: errorOf('mfa-disable'),
        })}
        ${connectionsSection(data.connections, data.providers)}
        ${sessionsSection(data.sessions)}
        ${noticesSection(data.mailNotices)}
      </div>
    `,
  )
}

const SHOWN_IN_FORM: ReadonlySet<AccountIntent> = new Set(['password', 'mfa-confirm', 'mfa-disable'])

/** A form that is only a button has no room for its error, so the page shows it as a notice. */
function pageFailure({ failed }: AccountPageData): Notice[] {
  if (failed === undefined || SHOWN_IN_FORM.has(failed.intent)) return []
  return [{ tone: 'bad', message: failed.error.message }]
}
