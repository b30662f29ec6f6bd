import { webAddress } from './forge/job.mjs'
import { reportOutcome } from './report.mjs'
import { singleLine } from './single-line.mjs'

/**
 * What was published, in Markdown.
 *
 * @param {import('./inputs.mjs').Target} target
 * @param {import('./upload.mjs').Published} published
 * @param {Record<string, string | undefined>} links
 */
export function publishSummary(target, { fileCount, totalSize, release }, links) {
  const rows = [
    ['Commit SHA', `\`${target.commitSha}\``],
    ...Object.entries(links).flatMap(([name, url]) =>
      url ? [[cell(name), `[${cell(url)}](${cell(url)})`]] : [],
    ),
    ['Files', fileCount ?? '?'],
    ['Size', `${totalSize ?? '?'} bytes`],
    ...(release.status === undefined || release.status === 'none' ? [] : [['Release', cell(release.status)]]),
  ]
  const table = rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')
  const failed = list('Checks that failed', release.failed)
  return `### ${cell(target.owner)}/${cell(target.repo)}\n\n| | |\n| --- | --- |\n${table}\n\n${failed}`
}

/**
 * What the server found in it, in Markdown.
 *
 * @param {{ refused: string[], report: import('./report.d.mts').Json | undefined,
 *   troubles: import('./report.d.mts').Trouble[], expected: import('./report.d.mts').Expected | undefined }} found
 */
export function findingsSummary({ refused, report, troubles, expected }) {
  const lines = list('Refused lines', refused)
  if (expected === undefined) return lines
  const page = webAddress(expected.pageUrl)
  const link = page === undefined ? '' : ` ([the whole report](${cell(page)}))`
  const rows = troubles.flatMap(({ severity, shown, more }) => [
    ...shown.map((line) => `| ${severity} | ${cell(line)} |`),
    ...(more > 0 ? [`| | and ${more} more |`] : []),
  ])
  const table = rows.length === 0 ? '' : `| | |\n| --- | --- |\n${rows.join('\n')}\n\n`
  return `${lines}#### ${reportOutcome(report, troubles)}${link}\n\n${table}`
}

/**
 * @param {string} title
 * @param {readonly string[]} lines
 */
function list(title, lines) {
  return lines.length === 0 ? '' : `#### ${title}\n\n${lines.map((line) => `- ${cell(line)}\n`).join('')}\n`
}

/**
 * Text of others, inside a table or not: nothing in it is Markdown or HTML.
 *
 * @param {string} text
 */
function cell(text) {
  return singleLine(text).replace(/[|<>`[\]()\\*~&!#@]|\b_|_\b/g, (part) => `&#${part.charCodeAt(0)};`)
}
