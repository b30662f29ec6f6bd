/** Emails are compared case-insensitively and stored in lower case. contract §3. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase()

/** The maximum accepted length. */
export const MAX_EMAIL = 320

/** Excludes spaces, characters with a meaning in mail headers and lists, and invisible or text-reversing characters. */
const PART =
  '[^\\s@"<>(),:;[\\]\\\\\\x00-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]+'

/** The pattern of an address, for JSON Schema. */
export const EMAIL_PATTERN = `${PART}@${PART}`

const EMAIL = new RegExp(`^${EMAIL_PATTERN}$`)

/** Whether the text looks like an email address. Only sending a mail shows whether it reaches anybody. */
export const isEmail = (text: string): boolean => EMAIL.test(text)
