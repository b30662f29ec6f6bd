import { appendFileSync } from 'node:fs'
import { until } from './until.ts'
import { MACHINES, type MachineName, WalkedMachines } from './walked-machines.ts'

/**
 * The machines of the walk as a program, for the browser tests that do not run in Bun. Prints the port of HAProxy, and restarts one
 * machine after the other until its input ends; each restart is a line in `SVC_E2E_RESTARTS`.
 */
const { BASE_DOMAIN = null, ...env } = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const at = new WalkedMachines(BASE_DOMAIN)
let isOver = false
const ended = (async () => {
  for await (const _ of console);
  isOver = true
})()

/** So long HAProxy may take to see that a machine is there again. */
const SEEN_MS = 1_500

const answers = async (name: MachineName, path: string): Promise<boolean> => {
  const answer = await fetch(`${at.at(name).url}${path}`).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.status === 200
}

const isSomePrimary = async () =>
  (await Promise.all([...at.running.keys()].map((name) => answers(name, '/api/health/primary')))).includes(
    true,
  )

/** As docs/store/runbook.md says: the next one waits until all know the primary of now. */
async function areAgreed(): Promise<boolean> {
  const epochs = [...at.running.keys()].map(async (name) => {
    const text = await fetch(`${at.at(name).url}/metrics`).then((answer) => answer.text())
    return /^svc_epoch (\d+)$/m.exec(text)?.[1]
  })
  return new Set(await Promise.all(epochs)).size === 1
}

async function restart(name: MachineName): Promise<void> {
  const wasPrimary = await answers(name, '/api/health/primary')
  const code = await at.stop(name)
  if (code !== 0) throw new Error(`${name} ended with ${code}`)
  await until('a primary', isSomePrimary)
  await at.start(name, env)
  appendFileSync(process.env['SVC_E2E_RESTARTS'] ?? '/dev/null', `${name}${wasPrimary ? ' primary' : ''}\n`)
  await until('all to know the primary', areAgreed)
  await Promise.race([Bun.sleep(SEEN_MS), ended])
}

try {
  at.keepSecretKey(Buffer.alloc(32, 7).toString('base64'))
  const made = await at.svc('a', ['store', 'init', '--create-bucket'])
  if (made.code !== 0) throw new Error(made.stderr)
  for (const name of MACHINES) await at.start(name, env)
  await at.balance()
  console.log(new URL(at.lb).port)
  for (let n = 0; !isOver; n += 1) await restart(MACHINES[n % MACHINES.length] ?? 'a')
} finally {
  await at.end()
}
