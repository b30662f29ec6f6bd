/** The statuses of a redirect rule. contract 13 §6. */
export const REDIRECT_STATUSES = [301, 302, 303, 307, 308] as const

export type RedirectStatus = (typeof REDIRECT_STATUSES)[number]
