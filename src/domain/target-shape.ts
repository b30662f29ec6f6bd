/** The form of a rule's target. Whether it may be reached is checked elsewhere. contract §8. */

/** `/app/`, `/maintenance.html`: a path in the same deployment. */
export function isRewritePath(target: string): boolean {
  const segments = target.split('/')
  return /^\/(?!\/)[^\\?#\s]*$/.test(target) && !segments.includes('..') && !segments.includes('.')
}

/** Whether this is an https URL that every parser reads the same way. */
export const isPlainAddress = (target: string): boolean =>
  /^https:\/\/[^/]/i.test(target) && !/[\s\\#]/.test(target) && URL.canParse(target)

const API_OF_ORIGINAL =
  /^(http:\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?)\/api\/(?!auth(?:[/?]|$))[^\s\\#]*$/i

/**
 * Whether this is the API of the server that a set of rules was written for, on its own machine. Such a target is kept in
 * a set and never called. contract 14.1.
 */
export const isApiOfOriginal = (target: string): boolean =>
  API_OF_ORIGINAL.test(target) && URL.canParse(target)

/** Names no path, so that it is the same for all such rules. */
export function warningOfOriginal(target: string): string {
  const origin = API_OF_ORIGINAL.exec(target)?.[1] ?? target
  return `${origin}/api/… is the API of another server on its own machine: nothing is sent there, and the request is answered with 501`
}

/** Whether this is the sign-in of that server, which a push leaves out. contract §9.2. */
export const isAuthOfOriginal = (target: string): boolean =>
  /^http:\/\/localhost(?::\d{1,5})?\/api\/auth(?:\/[^\s\\#]*)?$/i.test(target) && URL.canParse(target)

export const AUTH_IS_LEFT_OUT = 'is left out: every site serves /api/auth/* itself'
