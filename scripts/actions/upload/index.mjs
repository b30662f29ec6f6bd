import { ActionFailure, isExpected, messageOf } from './lib/failure.mjs'
import { findFiles } from './lib/files.mjs'
import { createMatcher } from './lib/glob.mjs'
import { readInputs } from './lib/inputs.mjs'
import { hashFiles } from './lib/manifest.mjs'
import { createRunner } from './lib/runner.mjs'
import { publish } from './lib/upload.mjs'

const runner = createRunner(process.env, (text) => process.stdout.write(text))

try {
  await upload()
} catch (error) {
  runner.error(messageOf(error))
  if (!isExpected(error)) console.error(error)
  process.exitCode = 1
}

async function upload() {
  const { apiUrl, apiKey, patterns, folder, target } = readInputs(process.env, runner)
  const files = hashFiles(findFiles(folder, createMatcher(patterns)))
  if (files.length === 0)
    throw new ActionFailure(
      `No file below ${folder} matches; patterns are relative to it: ${patterns.join(' ')}`,
    )
  const published = await publish({ apiUrl, apiKey, target, files, log: runner.log })
  runner.report(target, published)
}
