/** Emails are compared without regard to case and stored in lower case. contract §3. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase()

/** The longest that is taken. */
export const MOST_EMAIL = 320

/** No spaces, nothing that mail headers and lists give a meaning, and nothing that is not seen or turns the text around. */
const PART =
  '[^\\s@"<>(),:;[\\]\\\\\\x00-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]+'

/** Of an address, as a JSON Schema takes it. */
export const EMAIL_PATTERN = `${PART}@${PART}`

const EMAIL = new RegExp(`^${EMAIL_PATTERN}$`)

/** Whether it has the shape of an address. Who it reaches shows when something is sent there. */
export const isEmail = (text: string): boolean => EMAIL.test(text)
