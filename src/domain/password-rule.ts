/** Minimum and maximum number of characters in a password: code points of its NFC form. contract 12.7. */
export const MIN_PASSWORD = 8
export const MAX_PASSWORD = 256

/** In UTF-16 units. NFC shortens a text to a quarter at most, so that a longer one has more than `MAX_PASSWORD`. */
export const MAX_TYPED_PASSWORD = 2 * 4 * MAX_PASSWORD

export const PASSWORD_RULE = `${MIN_PASSWORD} to ${MAX_PASSWORD} characters`

/** Completes "must be" and "send". */
export const TOO_LONG = `a password of at most ${MAX_PASSWORD} characters`
const TOO_SHORT = `a password of at least ${MIN_PASSWORD} characters`

/** What a new password must be and is not; null for a good one. */
export function passwordFlaw(text: string): string | null {
  if (text.length > MAX_TYPED_PASSWORD) return TOO_LONG
  const length = [...text.normalize('NFC')].length
  if (length < MIN_PASSWORD) return TOO_SHORT
  return length > MAX_PASSWORD ? TOO_LONG : null
}

/** The form in which a password is hashed. */
export const normalPassword = (text: string): string => text.normalize('NFC')

/**
 * The forms in which a password may have been hashed: NFC, and before 0016_email_keys as it was sent, so perhaps in NFD.
 * One if they are the same, as for ASCII.
 */
export const passwordForms = (text: string): string[] => [
  ...new Set([normalPassword(text), text, text.normalize('NFD')]),
]
