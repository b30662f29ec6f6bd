import { webAddress } from './job.mjs'

/**
 * The first line of the comment, which tells it apart.
 *
 * @param {{ project: string, preview: string }} site
 */
export const markerOf = ({ project, preview }) => `<!-- svc-preview:${project}:${preview} -->`

/**
 * Only what has the form of a name, an address, a commit or a time gets into it.
 *
 * @param {string} preview
 * @param {import('./tell.d.mts').Published} published
 */
export function publishedText(preview, { url, commitSha, expiresAt }) {
  const address = webAddress(url)
  const end = Date.parse(expiresAt ?? '')
  const rows = [
    ...(address === undefined ? [] : [`- <${address}>`]),
    ...(/^[0-9a-f]{7,64}$/i.test(commitSha) ? [`- Commit \`${commitSha}\``] : []),
    ...(Number.isNaN(end) ? [] : [`- Ends ${new Date(end).toISOString()}`]),
  ]
  return `**Preview \`${preview}\`**\n\n${rows.join('\n')}\n`
}

/** @param {string} preview */
export const endedText = (preview) => `**Preview \`${preview}\`** has ended.\n`
