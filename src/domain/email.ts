/** Emails are compared without regard to case and stored in lower case. contract §3. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase()
