import { asciiHost, endsInNumber } from './hostname.ts'

/** The maximum accepted length, as typed and as stored. */
export const MAX_EMAIL = 320

/** Excludes spaces, characters with a meaning in mail headers and lists, and invisible or text-reversing characters. */
const PART =
  '[^\\s@"<>(),:;[\\]\\\\\\x00-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]+'

const EMAIL = new RegExp(`^${PART}@${PART}$`)

/** What to say of a text that is no email, or whose domain has no A-labels. */
export const EMAIL_RULE = 'An email address, such as ann@example.com'

export const emailFlaw = (text: string): string | null => (isEmail(text) ? null : EMAIL_RULE)

/** Whether the text looks like an email address. Only sending a mail shows whether it reaches anybody. */
export const isEmail = (text: string): boolean => normalEmail(text) !== null

/**
 * The one form in which an email is stored and compared, however it is spelled: trimmed, lower case, NFC, the domain as
 * A-labels. Null if it is no email or its domain has no such form. contract 12.7.
 */
export function normalEmail(text: string): string | null {
  const spelled = text.trim()
  if (spelled.length > MAX_EMAIL || !EMAIL.test(spelled)) return null
  const at = spelled.indexOf('@')
  const domain = domainOf(spelled.slice(at + 1))
  const email = `${foldedText(spelled.slice(0, at))}@${domain}`
  return domain === null || email.length > MAX_EMAIL ? null : email
}

/** As A-labels. A number is an address only as it is written: `1.2.3` is no short `1.2.0.3`. */
function domainOf(text: string): string | null {
  const domain = asciiHost(text)
  return domain !== null && endsInNumber(domain) && domain !== text ? null : domain
}

/** NFC comes first: what is in lower case then stays in NFC, whichever form it came in. */
const foldedText = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC')

/** The form in which versions before 0016_email_keys stored an email. */
export const earlierEmail = (text: string): string => text.trim().toLowerCase()

/** Parts of emails in their one form that a search for `text` means: its letters, or the A-labels of a domain or email. */
export function emailParts(text: string): string[] {
  const ascii = normalEmail(text) ?? asciiHost(text.trim().replace(/^@/, ''))
  return [...new Set([foldedText(text.trim()), ...(ascii === null ? [] : [ascii])])]
}
