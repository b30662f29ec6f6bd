/** Of the release that this copy of the action is from. In the source of svc they are not filled in. */
const PACKAGE = '{{npm.package}}'
const VERSION = '{{version}}'

/** @param {string} value */
export const isFilled = (value) => value !== '' && !value.startsWith('{')

/** The npm package that holds svc; undefined in the source. */
export const releasedPackage = isFilled(PACKAGE) ? PACKAGE : undefined

/** Its version; undefined in the source. */
export const releasedVersion = isFilled(VERSION) ? VERSION : undefined
