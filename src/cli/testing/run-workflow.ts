import { parse } from 'yaml'
import { type ActionRun, runUploadAction, spawned } from './run-action.ts'

/** What a workflow is started by and with, as the contexts of its expressions name it. */
export type WorkflowJob = {
  github: { event_name: 'push' | 'pull_request'; ref: string; token: string; event: Record<string, unknown> }
  vars: Record<string, string>
  secrets: Record<string, string>
  /** The runner's variables. */
  env: Record<string, string>
  workspace: string
}

type Step = { name?: string; if?: string; uses?: string; run?: string; with?: Record<string, unknown> }
type Workflow = {
  on: { push?: { branches: string[] }; pull_request?: { types?: string[] } | null }
  concurrency: { group: string }
  jobs: Record<string, { if?: string; steps: Step[] }>
}
const UPLOADS = ['./.github/actions/svc-upload', 'svc/upload@v1']
const DEFAULT_TYPES = ['opened', 'synchronize', 'reopened']

/**
 * Runs a workflow as far as svc's own need: `on`, `if`, expressions, `run`, and the upload action. Other actions are passed
 * over. Undefined where the event starts nothing; else what the upload said.
 */
export async function runWorkflow(yaml: string, job: WorkflowJob): Promise<ActionRun | undefined> {
  const workflow: Workflow = parse(yaml)
  if (!isStarted(workflow.on, job)) return undefined
  if (filled(workflow.concurrency.group, job).endsWith('-')) throw new Error('the group has no name')
  let uploaded: ActionRun | undefined
  for (const { if: condition = 'true', steps } of Object.values(workflow.jobs)) {
    if (!evaluate(condition, job)) continue
    for (const step of steps) {
      if (step.if !== undefined && !evaluate(step.if, job)) continue
      if (step.run !== undefined) await runShell(filled(step.run, job), job.workspace)
      if (UPLOADS.includes(step.uses ?? '')) uploaded = await upload(step.with ?? {}, job)
    }
  }
  return uploaded
}

function isStarted({ push, pull_request }: Workflow['on'], { github }: WorkflowJob): boolean {
  if (github.event_name === 'push')
    return push?.branches.some((name) => github.ref === `refs/heads/${name}`) ?? false
  return (pull_request?.types ?? DEFAULT_TYPES).includes(String(github.event['action']))
}

function upload(given: Record<string, unknown>, job: WorkflowJob): Promise<ActionRun> {
  const inputs = Object.entries(given).map(([name, value]) => [name, filled(String(value), job)])
  const { env, workspace, github } = job
  return runUploadAction(Object.fromEntries(inputs), {
    env,
    workspace,
    event: github.event,
    token: github.token,
  })
}

const filled = (text: string, job: WorkflowJob): string =>
  text.replace(/\$\{\{(.+?)\}\}/g, (_all, expression: string) => String(evaluate(expression, job) ?? ''))

/** The expressions of our own files are JavaScript as well. */
function evaluate(expression: string, { github, vars, secrets }: WorkflowJob): unknown {
  const format = (text: string, value: unknown) => text.replace('{0}', String(value))
  const run = new Function('github', 'vars', 'secrets', 'format', `return (${expression})`)
  return run({ repository: 'acme/site', ...github }, vars, secrets, format)
}

/** Throws what the script said where it fails. */
export async function runShell(
  script: string,
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const all = { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env }
  const { code, log } = await spawned(['sh', '-ec', script], cwd, all)
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${log}`)
  return log
}
