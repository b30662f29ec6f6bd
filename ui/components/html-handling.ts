import { HTML_HANDLINGS, type HtmlHandling } from '../../src/domain/html-handling.ts'
import { selectField } from './field.ts'
import type { Html } from './html.ts'

type HtmlHandlingField = {
  value: string
  /** What an empty choice stands for. */
  unset: string
  error?: string | undefined
}

/** The choice of how addresses stand for HTML files. contract 13 §5. */
export const htmlHandlingField = ({ value, unset, error }: HtmlHandlingField): Html =>
  selectField({
    name: 'htmlHandling',
    label: 'Addresses of pages',
    hint: 'Other spellings of an address redirect to the one chosen here.',
    value,
    error,
    options: [
      { value: '', label: unset },
      ...HTML_HANDLINGS.map((name) => ({ value: name, label: htmlHandlingWord(name) })),
    ],
  })

const WORDS: Record<HtmlHandling, string> = {
  'auto-trailing-slash': 'Pages /about, folders /docs/',
  'force-trailing-slash': 'Always with a slash: /about/, /docs/',
  'drop-trailing-slash': 'Never with a slash: /about, /docs',
  none: 'Only file names: /about.html, /docs/index.html',
}

/** Null: the setting of §6 of the contract, which redirects least. */
export const htmlHandlingWord = (handling: HtmlHandling | null): string =>
  handling === null ? 'Pages /about and /about.html, folders /docs/' : WORDS[handling]
