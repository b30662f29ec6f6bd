/** Emails are compared without regard to case and stored in lower case. contract §3. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase()

/** The longest that is taken. */
export const MOST_EMAIL = 320

const EMAIL = /^[^\s@]+@[^\s@]+$/

/** Whether it has the shape of an address. Who it reaches shows when something is sent there. */
export const isEmail = (text: string): boolean => EMAIL.test(text)
