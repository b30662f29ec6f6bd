import { button } from '../components/button.ts'
import { accountHint, type FormError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { authLayout } from '../frame/layout.ts'
import { newPasswordField } from './password-field.ts'

type ResetPageProps = {
  token: string
  /** `invite` sets the first password of an account that an admin created. */
  purpose: 'reset' | 'invite'
  email?: string | undefined
  error?: FormError | undefined
}

/** Sends `token` and `password`. */
export function resetPage(props: ResetPageProps): Html {
  const text = TEXTS[props.purpose]
  const isSpent = props.error?.code === 'RESET_TOKEN_INVALID'
  return authLayout(
    text.title,
    html`
      <h1>${text.title}</h1>
      ${props.email && html`<p class="muted">For <strong>${props.email}</strong>. ${text.about}</p>`}
      ${isSpent ? spent(props) : form(props, text.submit)}
    `,
  )
}

const TEXTS = {
  reset: {
    title: 'Choose a new password',
    about: 'This ends all other sessions of the account.',
    submit: 'Set the password',
  },
  invite: {
    title: 'Welcome: set your password',
    about: 'Then you can sign in on every site here you belong to.',
    submit: 'Set the password',
  },
} as const

const form = (props: ResetPageProps, submit: string): Html => html`
  <form method="post" class="stack">
    ${formError(props.error)} ${hidden('token', props.token)}
    ${props.email && accountHint(props.email)}
    ${newPasswordField(props.error, 'password', 'New password')}
    ${button({ label: submit })}
  </form>
`

const spent = ({ error, purpose }: ResetPageProps): Html => html`
  ${formError(error)}
  <p>A link works once and only for a limited time. ${purpose === 'invite' && 'Ask the admin who invited you for a new one.'}</p>
  ${purpose === 'reset' && html`<p><a href="/forgot-password">Ask for a new link</a></p>`}
`
