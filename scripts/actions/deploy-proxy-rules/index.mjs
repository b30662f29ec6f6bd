import { ActionFailure, readInputs } from './lib/inputs.mjs'
import { createRunner } from './lib/runner.mjs'
import { pushRules } from './lib/svc.mjs'

const runner = createRunner(process.env, (text) => process.stdout.write(text))

try {
  const inputs = readInputs(process.env, runner.mask)
  const { report, notes } = await pushRules(inputs, process.env, runner.log)
  runner.report(report, notes)
} catch (error) {
  runner.error(error instanceof Error ? error.message : String(error))
  if (!(error instanceof ActionFailure)) console.error(error)
  process.exitCode = 1
}
