import { MIN_PASSWORD, PASSWORD_RULE } from '../../src/domain/password-rule.ts'
import { assetUrl } from '../assets/manifest.ts'
import { type FormError, field, fieldError, startField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'

/** The field to choose a password (contract §3). It has no maxlength, which would silently cut a pasted password. */
export const newPasswordField = (error: FormError | undefined, name = 'password', label = 'Password'): Html =>
  html`<div data-new-password>${field({
    name,
    label,
    type: 'password',
    hint: `${PASSWORD_RULE}. A few unrelated words make a good one.`,
    autocomplete: 'new-password',
    minlength: MIN_PASSWORD,
    autofocus: startField(error, '') === name,
    error: fieldError(error, name),
  })}</div><script src=${assetUrl('show-password.js')} defer></script>`
