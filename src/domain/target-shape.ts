/** What the target of a rule looks like; whether it may be reached is asked elsewhere. contract §8. */

/** `/app/`, `/maintenance.html`: a path of the same deployment. */
export function isRewritePath(target: string): boolean {
  const segments = target.split('/')
  return /^\/(?!\/)[^\\?#\s]*$/.test(target) && !segments.includes('..') && !segments.includes('.')
}

/** An https address, written so that every reader takes it for the same one. */
export const isPlainAddress = (target: string): boolean =>
  /^https:\/\/[^/]/i.test(target) && !/[\s\\#]/.test(target) && URL.canParse(target)
