import { LEAST_PASSWORD, PASSWORD_RULE } from '../../../src/domain/password-rule.ts'
import { type FormError, field, fieldError, startField } from '../../components/field.ts'
import type { Html } from '../../html.ts'

/** Where a password is chosen (contract §3). No maxlength: it would cut a pasted password without a word. */
export const newPasswordField = (error: FormError | undefined, name = 'password', label = 'Password'): Html =>
  field({
    name,
    label,
    type: 'password',
    hint: `${PASSWORD_RULE}. A few unrelated words make a good one.`,
    autocomplete: 'new-password',
    minlength: LEAST_PASSWORD,
    autofocus: startField(error, '') === name,
    error: fieldError(error, name),
  })
