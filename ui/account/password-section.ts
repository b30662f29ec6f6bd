import { newPasswordField } from '../auth/password-field.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import {
  accountHint,
  type FormError,
  field,
  fieldError,
  formError,
  hidden,
  startField,
} from '../components/field.ts'
import { type Html, html } from '../components/html.ts'

export const passwordSection = (email: string, error: FormError | undefined): Html =>
  card(
    { id: 'password', title: 'Password', about: 'Changing it signs you out everywhere else.' },
    html`
      <form method="post" class="stack narrow">
        ${formError(error)} ${hidden('intent', 'password')} ${accountHint(email)}
        ${field({
          name: 'currentPassword',
          label: 'Current password',
          type: 'password',
          autocomplete: 'current-password',
          autofocus: error !== undefined && startField(error, 'currentPassword') === 'currentPassword',
          error: fieldError(error, 'currentPassword'),
        })}
        ${newPasswordField(error, 'newPassword', 'New password')}
        <div>${button({ label: 'Change password' })}</div>
      </form>
    `,
  )
