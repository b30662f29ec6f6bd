import { button } from '../components/button.ts'
import { type FormError, field, fieldError, formError, hidden, startField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { type PublishPanelProps, publishPanel } from '../deployments/publish-panel.ts'
import { type PublishSnippets, publishGuide } from '../deployments/publish-snippets.ts'
import { authLayout } from '../frame/layout.ts'
import { emailField } from './email-field.ts'
import { newPasswordField } from './password-field.ts'
import { type Place, whereItLives } from './where-it-lives.ts'

type SetupPageProps = {
  /** The token from the set-up link, sent unchanged with the form. */
  token?: string | undefined
  /** The request did not come from this machine, so the token of the set-up link is required. */
  needsToken: boolean
  email?: string | undefined
  error?: FormError | undefined
}

/** The first admin. Sends `email`, `password` and `setupToken`. */
export const setupPage = (props: SetupPageProps): Html =>
  authLayout(
    'Set up',
    html`
      <h1>Welcome to svc</h1>
      <p class="muted">
        This server has no admin yet. The account you create here can do everything on it, and can invite others.
      </p>
      <form method="post" class="stack">
        ${formError(props.error)}
        ${asksForToken(props) ? tokenField(props.error) : hidden('setupToken', props.token)}
        ${emailField(props, !asksForToken(props) && startField(props.error, 'email') === 'email')}
        ${newPasswordField(props.error)}
        ${button({ label: 'Create the admin account' })}
      </form>
    `,
  )

type SetupDonePageProps = {
  apiDocsUrl: string
  snippets: PublishSnippets
  place: Place
  panel: PublishPanelProps
}

/** After set-up: what to do next. */
export const setupDonePage = ({ apiDocsUrl, snippets, place, panel }: SetupDonePageProps): Html =>
  authLayout(
    'Ready',
    html`
      <h1>Your server is ready</h1>
      ${notice({ tone: 'good', message: 'The admin account was created and you are signed in.', live: true })}
      ${publishPanel(panel)}
      <ol class="steps">
        <li>
          <h2>Choose its address</h2>
          ${whereItLives(place)}
        </li>
        <li>
          <h2>Publish from elsewhere</h2>
          <p>From a terminal or CI, with an <a href="/keys">API key</a>.</p>
          <details class="more">
            <summary>Commands to publish</summary>
            ${publishGuide(snippets)}
          </details>
        </li>
        <li>
          <h2>Keep a backup</h2>
          <p>
            There is none yet. <a href="/admin/backups">Backups</a> makes one and hands it to you as a file; no setting is needed.
          </p>
        </li>
        <li>
          <h2>Look at it</h2>
          <p>
            Everything on this server is listed under <a href="/">Projects</a>, and
            the <a href=${apiDocsUrl}>API explorer</a> shows what else it can do.
          </p>
        </li>
      </ol>
    `,
    { isWide: true, isScripted: true },
  )

/** The token of the link stays hidden until the server rejects it. */
function asksForToken({ token, needsToken, error }: SetupPageProps): boolean {
  const isRefused = error?.code === 'SETUP_TOKEN_REQUIRED' || fieldError(error, 'setupToken') !== undefined
  return isRefused || (needsToken && token === undefined)
}

function tokenField(error: FormError | undefined): Html {
  return html`
    ${notice({
      tone: 'info',
      message: html`
        Until there is an admin, the server prints a <strong>set-up link</strong> in its log each time it starts. Look in
        the terminal where you started it, in <code>journalctl -u svc</code> or in <code>docker logs</code>. Open the link,
        or paste the end of it here.
      `,
    })}
    ${field({
      name: 'setupToken',
      label: 'Set-up token',
      hint: html`The part after <code>?token=</code> in the set-up link.`,
      error: fieldError(error, 'setupToken'),
      verbatim: true,
      autofocus: startField(error, 'setupToken') === 'setupToken',
    })}
  `
}
