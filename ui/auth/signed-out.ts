import { linkButton } from '../components/button.ts'
import { type Html, html } from '../components/html.ts'
import { authLayout } from '../frame/layout.ts'

type SignedOutPageProps = { signInUrl: string }

export const signedOutPage = ({ signInUrl }: SignedOutPageProps): Html =>
  authLayout(
    'Signed out',
    html`
      <h1>You are signed out</h1>
      <p class="muted">This applies to every site of this workspace in this browser.</p>
      ${linkButton({ label: 'Sign in again', href: signInUrl })}
    `,
  )
