/** Minimum and maximum number of characters in a password. contract §3. */
export const MIN_PASSWORD = 8
export const MAX_PASSWORD = 256

export const PASSWORD_RULE = `${MIN_PASSWORD} to ${MAX_PASSWORD} characters`

export const isPassword = (text: string): boolean =>
  text.length >= MIN_PASSWORD && text.length <= MAX_PASSWORD
