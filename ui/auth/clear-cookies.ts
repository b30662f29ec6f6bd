import { button } from '../components/button.ts'
import { type Html, html } from '../components/html.ts'
import { authLayout } from '../frame/layout.ts'

type ClearCookiesPageProps = {
  host: string
  /** The form posts here. */
  action: string
}

/** For whoever is locked out by the cookies that other sites of the workspace have set. */
export const clearCookiesPage = ({ host, action }: ClearCookiesPageProps): Html =>
  authLayout(
    'Clear cookies',
    html`
      <h1>Clear the cookies of ${host}</h1>
      <p>
        Every request carries all cookies that this address and the sites beside it have set. When they are too many, it
        is refused.
      </p>
      <p class="muted">Clearing them signs you out, here and on those sites. Nothing else is lost.</p>
      <form method="post" action=${action}>${button({ label: 'Clear cookies' })}</form>
    `,
  )
