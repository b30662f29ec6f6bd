import { appendFileSync } from 'node:fs'
import { environmentOf } from './forge/tell.mjs'
import { whyNotMoved } from './release.mjs'
import { expectedReport, refusedLines, reportOutcome, saidKinds, troublesOf } from './report.mjs'
import { singleLine } from './single-line.mjs'
import { findingsSummary, publishSummary } from './summary.mjs'

/** @typedef {import('./inputs.mjs').Target} Target */

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
    /** @param {string} text */
    notice: (text) => write(`::notice::${escapeData(text)}\n`),
    /**
     * Outputs, summary and log lines of a deployment.
     *
     * @param {Target} target
     * @param {import('./upload.mjs').Published} answer
     */
    report(target, answer) {
      const { id, fileCount, totalSize, urls, isPublished, notes } = answer
      const aliasUrl = isPublished ? urls.alias : undefined
      const name = target.preview ?? target.alias
      const place = `${target.preview === undefined ? 'alias' : 'preview'} ${name}`
      const why = name === undefined ? undefined : whyNotMoved(answer.release, place, isPublished)
      if (why !== undefined)
        write(`::${answer.release.status === 'failed' ? 'error' : 'warning'}::${escapeData(why)}\n`)
      for (const note of notes) write(`::notice::${escapeData(note)}\n`)
      const links = { [name ?? '']: aliasUrl, Preview: urls.preview, Commit: urls.sha }
      for (const [name, url] of Object.entries(links)) if (url) log(`${name}: ${url}`)
      append(env['GITHUB_STEP_SUMMARY'], publishSummary(target, answer, links))
      append(
        env['GITHUB_OUTPUT'],
        outputs({
          'deployment-id': id,
          'sha-url': urls.sha,
          'alias-url': aliasUrl,
          'preview-url': urls.preview,
          'file-count': fileCount,
          'total-size': totalSize,
          published: isPublished,
          ...placeOutputs(target),
          'expires-at': isPublished ? answer.expiresAt : undefined,
          version: answer.version,
          'release-status': answer.release.status,
          'report-url': expectedReport(answer.raw)?.pageUrl,
        }),
      )
    },
    /**
     * Refused lines, and what the deploy report found that no notice has said.
     *
     * @param {import('./upload.mjs').Published} published
     * @param {import('./api.mjs').Json | undefined} report
     */
    reportFindings({ raw }, report) {
      const refused = refusedLines(raw)
      const troubles = troublesOf(report ?? {}, saidKinds(raw))
      if (refused.length > 0) write(`::warning::${escapeData(refused.map(singleLine).join('\n'))}\n`)
      for (const { severity, shown, more } of troubles) {
        const lines = more > 0 ? [...shown, `and ${more} more`] : shown
        write(`::${severity}::${escapeData(lines.map(singleLine).join('\n'))}\n`)
      }
      const expected = expectedReport(raw)
      if (expected !== undefined) log(`${reportOutcome(report, troubles)}  ${expected.pageUrl ?? ''}`)
      append(env['GITHUB_STEP_SUMMARY'], findingsSummary({ refused, report, troubles, expected }))
    },
    /**
     * Outputs of the end of a preview.
     *
     * @param {Target} target
     */
    reportEnd: (target) => append(env['GITHUB_OUTPUT'], outputs(placeOutputs(target))),
  }
}

/** @param {Target} target */
const placeOutputs = ({ preview, alias }) => ({
  'preview-name': preview,
  environment: environmentOf({ preview, alias }),
})

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
 * @param {Record<string, string | number | boolean | undefined>} values
 */
function outputs(values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${singleLine(String(value ?? ''))}\n`)
  return lines.join('')
}

/** @param {string} text */
function escapeData(text) {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
