import { type FormError, field, fieldError } from '../components/field.ts'
import type { Html } from '../components/html.ts'

type Typed = { email?: string | undefined; error?: FormError | undefined }

/** The email of an account, which password managers store with the password. */
export const emailField = ({ email, error }: Typed, autofocus: boolean): Html =>
  field({
    name: 'email',
    label: 'Email',
    type: 'email',
    value: email,
    autocomplete: 'username',
    autofocus,
    error: fieldError(error, 'email'),
  })
