import { button } from '../components/button.ts'
import { type FormError, formError, hidden, startField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { authLayout } from '../frame/layout.ts'
import { withRedirect } from '../frame/with-redirect.ts'
import { emailField } from './email-field.ts'
import { newPasswordField } from './password-field.ts'

type SignUpPageProps = {
  email?: string | undefined
  redirect?: string | undefined
  /** If false, the page says why there is no form. */
  allowSignup: boolean
  error?: FormError | undefined
}

/** Sends `email`, `password` and `redirect`. */
export const signUpPage = (props: SignUpPageProps): Html =>
  authLayout(
    'Create an account',
    html`
      <h1>Create an account</h1>
      ${
        props.allowSignup
          ? signUpForm(props)
          : notice({
              tone: 'info',
              message: 'Accounts are created by invitation only. Ask an admin to invite you.',
            })
      }
      <ul class="auth-links">
        <li>Have an account? <a href=${withRedirect('/signin', props.redirect)}>Sign in</a></li>
      </ul>
    `,
  )

const signUpForm = (props: SignUpPageProps): Html => html`
  <p class="muted">One account works on every site here you belong to.</p>
  <form method="post" class="stack">
    ${refusal(props)} ${hidden('redirect', props.redirect)}
    ${emailField(props, startField(props.error, 'email') === 'email')}
    ${newPasswordField(props.error)}
    ${button({ label: 'Create account' })}
  </form>
`

function refusal({ error, redirect }: SignUpPageProps): Html | null {
  if (error?.code !== 'EMAIL_ALREADY_EXISTS_ERROR') return formError(error)
  return notice({
    tone: 'bad',
    live: true,
    message: html`${error.message} <a href=${withRedirect('/signin', redirect)}>Go to sign in</a>`,
  })
}
