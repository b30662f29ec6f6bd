import { appendFileSync } from 'node:fs'

/**
 * What came of one rule set, as `svc rules push --json` says it.
 *
 * @typedef {{ pathPattern: string, method: string | null }[]} Rules
 * @typedef {{ name: string, ruleSetId: string | null, created: Rules, updated: Rules, deleted: Rules,
 *   unchanged: Rules, missingSecrets: string[], warnings: string[],
 *   schedules?: { created: string[], updated: string[], deleted: string[] } }} RuleSetReport
 * @typedef {{ dryRun: boolean, ruleSets: RuleSetReport[] }} Report
 */

/**
 * What a workflow's runner understands: commands on stdout, outputs and the summary in files that it names.
 *
 * @param {import('./inputs.mjs').Env} env
 * @param {(text: string) => void} write
 */
export function createRunner(env, write) {
  /** @param {string} text */
  const log = (text) => write(`${singleLine(text)}\n`)
  return {
    log,
    /** @param {string} text */
    mask: (text) => write(`::add-mask::${escapeData(text)}\n`),
    /** @param {string} text */
    error: (text) => write(`::error::${escapeData(text)}\n`),
    /**
     * Outputs, summary and log lines of a push.
     *
     * @param {Report} report
     * @param {string[]} notes
     */
    report({ dryRun, ruleSets }, notes) {
      const warnings = ruleSets.flatMap(({ name, warnings }) => warnings.map((text) => `${name}: ${text}`))
      for (const note of [...notes, ...warnings]) write(`::warning::${escapeData(note)}\n`)
      for (const set of ruleSets) log(`${set.name}: ${counts(set)}`)
      const isChanged = ruleSets.some(
        ({ schedules, ...rules }) =>
          isAnyChanged(rules) || (schedules !== undefined && isAnyChanged(schedules)),
      )
      append(env['GITHUB_STEP_SUMMARY'], summary(dryRun, ruleSets))
      append(
        env['GITHUB_OUTPUT'],
        outputs({
          'rule-set-ids': ruleSets.map(({ ruleSetId }) => ruleSetId ?? '').join(','),
          'rule-set-names': ruleSets.map(({ name }) => name).join(','),
          changed: isChanged,
          report: JSON.stringify(ruleSets),
        }),
      )
    },
  }
}

/** @param {{ created: unknown[], updated: unknown[], deleted: unknown[] }} lists */
const isAnyChanged = ({ created, updated, deleted }) => created.length + updated.length + deleted.length > 0

/** @param {RuleSetReport} set */
const counts = ({ created, updated, deleted, unchanged }) =>
  `${created.length} created, ${updated.length} updated, ${deleted.length} deleted, ${unchanged.length} unchanged`

/**
 * @param {string | undefined} path
 * @param {string} text
 */
function append(path, text) {
  if (path) appendFileSync(path, text)
}

/**
 * One line a value: what the server says cannot add an output of its own.
 *
 * @param {Record<string, string | boolean>} values
 */
function outputs(values) {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${String(value).replace(/\p{Cc}+/gu, ' ')}\n`)
    .join('')
}

/**
 * @param {boolean} dryRun
 * @param {RuleSetReport[]} ruleSets
 */
function summary(dryRun, ruleSets) {
  const rows = ruleSets.map(
    ({ name, created, updated, deleted, unchanged, missingSecrets }) =>
      `| ${cell(name)} | ${created.length} | ${updated.length} | ${deleted.length} | ${unchanged.length} | ${cell(missingSecrets.join(', '))} |`,
  )
  const head = '| Rule set | Created | Updated | Deleted | Unchanged | Headers without a value |'
  return `### Rule sets${dryRun ? ' (dry run)' : ''}\n\n${head}\n| --- | --- | --- | --- | --- | --- |\n${rows.join('\n')}\n\n`
}

/**
 * Text of others inside a Markdown table.
 *
 * @param {string} text
 */
function cell(text) {
  return singleLine(text).replace(/[|<>`[\]()\\]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/**
 * Lines of a log may be commands to the runner (`::` in front, behind white space too, `##[` anywhere), so nobody else
 * gets to give one.
 *
 * @param {string} text
 */
function singleLine(text) {
  return text.replace(/\p{Cc}+/gu, ' ').replace(/^\s*::|##\[/g, (start) => start.split('').join(' '))
}

/** @param {string} text */
function escapeData(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
