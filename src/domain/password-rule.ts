/** Minimum and maximum number of characters in a password. contract §3. */
export const LEAST_PASSWORD = 8
export const MOST_PASSWORD = 256

export const PASSWORD_RULE = `${LEAST_PASSWORD} to ${MOST_PASSWORD} characters`

export const isPassword = (text: string): boolean =>
  text.length >= LEAST_PASSWORD && text.length <= MOST_PASSWORD
