/** The form of a rule's target. Whether it may be reached is checked elsewhere. contract §8. */

/** `/app/`, `/maintenance.html`: a path in the same deployment. */
export function isRewritePath(target: string): boolean {
  const segments = target.split('/')
  return /^\/(?!\/)[^\\?#\s]*$/.test(target) && !segments.includes('..') && !segments.includes('.')
}

/** Whether this is an https URL that every parser reads the same way. */
export const isPlainAddress = (target: string): boolean =>
  /^https:\/\/[^/]/i.test(target) && !/[\s\\#]/.test(target) && URL.canParse(target)
