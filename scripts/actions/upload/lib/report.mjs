const LONGEST_WAIT_MS = 30_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1_000
const SHOWN_OF_A_KIND = 10
/** Notes of an answer that say what a finding says. */
const KIND_OF_NOTE = new Map([
  ['NO_START_PAGE', 'start-page-missing'],
  ['NESTED_FOLDER', 'nested-folder'],
])

/** @typedef {import('./report.d.mts').Json} Json */
/** @typedef {import('./report.d.mts').Trouble} Trouble */

/** @type {typeof import('./report.d.mts').expectedReport} */
export function expectedReport({ report }) {
  const { status, pageUrl } = objectOf(report)
  if (typeof status !== 'string') return undefined
  return { pageUrl: typeof pageUrl === 'string' ? pageUrl : undefined }
}

/** @type {typeof import('./report.d.mts').refusedLines} */
export function refusedLines({ routing }) {
  const { problems, refused } = objectOf(routing)
  const lines = listOf(problems).map(({ file, line, message }) => `${file}:${line} ${message}`)
  const more = Number(refused) - lines.length
  return lines.length > 0 && more > 0 ? [...lines, `and ${more} more`] : lines
}

/** @type {typeof import('./report.d.mts').waitForReport} */
export async function waitForReport({ ask, isPassing, sleep, nowMs }) {
  const startedMs = nowMs()
  /** @type {Json | undefined} */
  let report
  let sleptMs = 0
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const leftMs = LONGEST_WAIT_MS - Math.max(sleptMs, nowMs() - startedMs)
    if (leftMs <= 0) return report
    try {
      report = objectOf(await ask(Math.ceil(leftMs)))
      if (report['status'] !== 'running') return report
    } catch (error) {
      if (!isPassing(error)) throw error
    }
    await sleep(Math.min(pauseMs, leftMs))
    sleptMs += pauseMs
  }
}

/** @type {typeof import('./report.d.mts').saidKinds} */
export function saidKinds({ notes, routing }) {
  const said = listOf(notes).flatMap(({ code }) => KIND_OF_NOTE.get(String(code)) ?? [])
  const refused = listOf(objectOf(routing)['problems']).length > 0
  return new Set([...said, ...(refused ? ['redirect-refused', 'header-refused'] : [])])
}

/** @type {typeof import('./report.d.mts').troublesOf} */
export function troublesOf({ findings, kinds }, said) {
  const counts = objectOf(kinds)
  /** @type {Map<string, Trouble>} */
  const byKind = new Map()
  for (const finding of listOf(findings)) {
    const { severity } = finding
    const kind = String(finding['kind'])
    if ((severity !== 'error' && severity !== 'warning') || said.has(kind)) continue
    const trouble = byKind.get(kind) ?? { kind, severity, shown: [], more: 0 }
    byKind.set(kind, trouble)
    if (trouble.shown.length < SHOWN_OF_A_KIND) trouble.shown.push(lineOf(finding))
    else trouble.more += 1
  }
  const troubles = [...byKind.values()].map((trouble) => {
    const more = Number(counts[trouble.kind]) - trouble.shown.length
    return more > trouble.more ? { ...trouble, more } : trouble
  })
  return [...ofSeverity(troubles, 'error'), ...ofSeverity(troubles, 'warning')]
}

/** @type {typeof import('./report.d.mts').reportOutcome} */
export function reportOutcome(report, troubles) {
  if (report === undefined || report['status'] === 'running') return 'the report is still being made'
  if (report['status'] !== 'complete') return 'the report could not be made'
  const errors = countOf(ofSeverity(troubles, 'error'))
  const warnings = countOf(ofSeverity(troubles, 'warning'))
  const found = `report: ${amount(errors, 'error')}, ${amount(warnings, 'warning')}`
  return report['truncated'] === true ? `${found}; the site is too large to be read whole` : found
}

/** @param {Json} finding */
function lineOf({ kind, file, line, target, message }) {
  const place = typeof file !== 'string' ? '' : ` ${file}${typeof line === 'number' ? `:${line}` : ''}`
  const text = String(message ?? '')
  const meant = typeof target === 'string' && !text.includes(target) ? ` (${target})` : ''
  return `${kind}${place}: ${text}${meant}`
}

/**
 * @param {readonly Trouble[]} troubles
 * @param {string} wanted
 */
const ofSeverity = (troubles, wanted) => troubles.filter(({ severity }) => severity === wanted)

/** @param {readonly Trouble[]} troubles */
const countOf = (troubles) => troubles.reduce((sum, { shown, more }) => sum + shown.length + more, 0)

/**
 * @param {number} count
 * @param {string} noun
 */
const amount = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`

/**
 * @param {unknown} value
 * @returns {Json} An empty one where it is none.
 */
const objectOf = (value) => (typeof value === 'object' && value !== null ? { ...value } : {})

/** @param {unknown} value */
const listOf = (value) => (Array.isArray(value) ? value.map(objectOf) : [])
