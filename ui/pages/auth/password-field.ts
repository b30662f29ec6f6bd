import { type FormError, field, fieldError, startField } from '../../components/field.ts'
import type { Html } from '../../html.ts'

export const PASSWORD_RULE = '8 to 256 characters. A few unrelated words make a good one.'

/** Where a password is chosen (contract §3). No maxlength: it would cut a pasted password without a word. */
export const newPasswordField = (error: FormError | undefined, name = 'password', label = 'Password'): Html =>
  field({
    name,
    label,
    type: 'password',
    hint: PASSWORD_RULE,
    autocomplete: 'new-password',
    minlength: 8,
    autofocus: startField(error, '') === name,
    error: fieldError(error, name),
  })
