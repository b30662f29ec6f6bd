import { type FormError, field, fieldError } from './field.ts'
import type { Html } from './html.ts'

type TypedWordProps = {
  id: string
  word: string
  /** Of the form that was refused. */
  typed: string | undefined
  error: FormError | undefined
}

/** Asks to type a word before what cannot be undone and takes data along; `requireTyped` reads it. contract 17.9. */
export const typedWord = ({ id, word, typed, error }: TypedWordProps): Html =>
  field({
    name: 'confirm',
    id,
    label: `Type ${word} to confirm`,
    value: typed,
    error: fieldError(error, 'confirm'),
    verbatim: true,
  })
