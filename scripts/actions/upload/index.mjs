import { sendOnce } from './lib/api.mjs'
import { findChecks } from './lib/checks.mjs'
import { endPreview } from './lib/end.mjs'
import { ActionFailure, isExpected, messageOf } from './lib/failure.mjs'
import { findFiles } from './lib/files.mjs'
import { tellGithub } from './lib/forge/tell.mjs'
import { createMatcher } from './lib/glob.mjs'
import { readInputs } from './lib/inputs.mjs'
import { hashFiles } from './lib/manifest.mjs'
import { createRunner } from './lib/runner.mjs'
import { publish, readReport } from './lib/upload.mjs'

/** What lies at the top of every checkout says nothing about this one. */
const OF_A_CHECKOUT = /^\.(?:svc|git[a-z]*)$/
/** The server takes so many of them. */
const MOST_LEFT_OUT = 100

/** @typedef {NonNullable<ReturnType<typeof readInputs>>} Inputs */

const runner = createRunner(process.env, (text) => process.stdout.write(text))

try {
  const inputs = readInputs(process.env, runner)
  if (inputs === undefined)
    runner.notice('This pull request comes from a fork and has no API key, so nothing was published')
  else if (inputs.isClose) await close(inputs)
  else await upload(inputs)
} catch (error) {
  runner.error(messageOf(error))
  if (!isExpected(error)) console.error(error)
  process.exitCode = 1
}

/** @param {Inputs} inputs */
async function upload(inputs) {
  const { target } = inputs
  let published
  try {
    published = await publishFiles(inputs)
  } catch (error) {
    await tell(inputs, 'failed')
    throw error
  }
  runner.report(target, published)
  const { urls, expiresAt, isPublished } = published
  if (published.release.status === 'failed') {
    process.exitCode = 1
    await tell(inputs, 'failed')
  }
  if (isPublished) await tell(inputs, { url: urls.alias, commitSha: target.commitSha, expiresAt })
  runner.reportFindings(published, await findings(inputs, published))
}

/**
 * That the report cannot be read is a notice: the publish stands.
 *
 * @param {Inputs} inputs
 * @param {import('./lib/upload.mjs').Published} published
 */
async function findings(inputs, published) {
  try {
    return await readReport(inputs, published)
  } catch (error) {
    if (!isExpected(error)) throw error
    runner.notice(`The report cannot be read: ${messageOf(error)}`)
    return undefined
  }
}

/** @param {Inputs} inputs */
async function publishFiles({ apiUrl, apiKey, patterns, folder, target }) {
  /** @type {string[]} */
  const leftOut = []
  const files = hashFiles(findFiles(folder, createMatcher(patterns), (path) => leftOut.push(path)))
  if (files.length === 0)
    throw new ActionFailure(
      `No file below ${folder} matches; patterns are relative to it: ${patterns.join(' ')}`,
    )
  const sent = [...files, ...hashFiles(findChecks(folder))]
  const named = leftOut.filter((path) => !OF_A_CHECKOUT.test(path)).slice(0, MOST_LEFT_OUT)
  const manifest = named.length === 0 ? target : { ...target, leftOut: named }
  return publish({ apiUrl, apiKey, target: manifest, files: sent, log: runner.log })
}

/** @param {Inputs} inputs */
async function close(inputs) {
  const { preview } = inputs.target
  if (preview === undefined)
    throw new ActionFailure('The input close ends a preview; name it with the input preview')
  const isThere = await endPreview({ ...inputs, preview, log: runner.log })
  runner.log(isThere ? `The preview ${preview} has ended` : `There is no preview ${preview} any more`)
  runner.reportEnd(inputs.target)
  await tell(inputs, 'ended')
}

/**
 * Tells the forge. What it refuses is a notice: the publish stands.
 *
 * @param {Inputs} inputs
 * @param {import('./lib/forge/tell.d.mts').Outcome} outcome
 */
async function tell({ token, job, wants, target }, outcome) {
  const { owner, repo, preview, alias } = target
  if (token === '' || (preview ?? alias) === undefined || !(wants.comment || wants.deployment)) return
  const site = { project: `${owner}/${repo}`, preview, alias }
  const trouble = await tellGithub({ job, token, send: sendOnce, wants }, site, outcome)
  if (trouble !== undefined) runner.notice(`The forge was not told: ${trouble}`)
}
