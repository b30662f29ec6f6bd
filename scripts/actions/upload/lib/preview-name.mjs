const LONGEST_SLUG = 40

/**
 * The name that `auto` stands for: `pr-` and the number in a pull request, else the branch as a slug. Undefined where
 * there is neither, or no letter or digit in the branch. contract 16 §2.
 *
 * @type {typeof import('./preview-name.d.mts').autoPreviewName}
 */
export function autoPreviewName({ pullRequest, branch }) {
  if (pullRequest !== undefined) return `pr-${pullRequest}`
  const slug = (branch ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, LONGEST_SLUG)
    .replace(/-$/, '')
  if (slug === '') return undefined
  return /^[0-9a-f]{7,64}$/.test(slug) ? `b-${slug}` : slug
}

/**
 * Whether an alias may be called so.
 *
 * @type {typeof import('./preview-name.d.mts').isPreviewName}
 */
export function isPreviewName(text) {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text) && !/^[0-9a-f]{7,64}$/i.test(text)
}
