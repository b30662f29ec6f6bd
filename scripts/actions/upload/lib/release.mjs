import { singleLine } from './single-line.mjs'

/**
 * What the server says became of the alias, and the checks that failed, each as a line.
 *
 * @typedef {{ status: string | undefined, failed: string[] }} Release
 */

/**
 * Nothing is known of an older server.
 *
 * @param {unknown} release
 * @returns {Release}
 */
export function readRelease(release) {
  const { status, checks } = objectOf(release)
  return {
    status: typeof status === 'string' ? status : undefined,
    failed: (Array.isArray(checks) ? checks : [])
      .map(objectOf)
      .filter(({ ok }) => ok === false)
      .map(({ name, path, message }) =>
        singleLine(`${name === path ? path : `${name} (${path})`}: ${message}`),
      ),
  }
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
const objectOf = (value) => (typeof value === 'object' && value !== null ? { ...value } : {})

/**
 * Why the alias or preview of this name is where it was; undefined if nothing is to be said.
 *
 * @param {Release} release
 * @param {string} place
 * @param {boolean} isPublished
 */
export function whyNotMoved({ status, failed }, place, isPublished) {
  if (status === 'failed')
    return `The ${place} was not moved, because of what failed; the deployment is kept. Mend it and publish again, or move all the same with force: true\n${failed.join('\n')}`
  if (status === 'overtaken')
    return `Somebody moved the ${place} while this was checked, so it stays where they put it`
  if (status === 'forced') return `The ${place} was moved although this failed:\n${failed.join('\n')}`
  return isPublished ? undefined : `The ${place} is locked, so it was not moved`
}
