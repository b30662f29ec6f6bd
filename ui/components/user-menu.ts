import { type Html, html } from './html.ts'

/** The signed-in account as pages need it. */
export type PageUser = { email: string; role: 'admin' | 'user' | 'member' }

/** The first letter of the email in a circle. The stylesheet draws it, so it is not part of any accessible name. */
const avatar = (email: string): Html => html`
  <span class="avatar" aria-hidden="true" data-letter=${Array.from(email)[0]?.toUpperCase() ?? '?'}></span>
`

export const userMenu = (user: PageUser): Html => html`
  <details class="menu">
    <summary aria-label=${`Account menu of ${user.email}`}>
      ${avatar(user.email)}<span class="menu-name">${user.email}</span>
    </summary>
    <div class="menu-panel">
      <p class="menu-who"><span class="muted">Signed in as</span><br /><strong>${user.email}</strong></p>
      <ul>
        <li><a href="/account">Your account</a></li>
        <li><a href="/docs">Documents</a></li>
        <li><a href="/api/docs">API explorer</a></li>
        <li><form method="post" action="/signout"><button type="submit">Sign out</button></form></li>
      </ul>
      <form method="post" action="/theme">
        <div role="group" aria-labelledby="theme-label">
          <p class="nav-label" id="theme-label">Theme</p>
          ${THEMES.map(theme)}
        </div>
      </form>
    </div>
  </details>
`

const THEMES = [
  ['system', 'System theme'],
  ['light', 'Light theme'],
  ['dark', 'Dark theme'],
] as const

/** The system's unless the browser says otherwise (frame/theme.ts). */
const theme = ([value, label]: (typeof THEMES)[number]): Html => html`
  <button type="submit" name="theme" value=${value} aria-pressed=${String(value === 'system')}>${label}</button>
`
