import { closeSync, openSync } from 'node:fs'
import type { SandboxJob } from './sandbox/protocol.ts'
import { createSandbox } from './sandbox.ts'

/** Run by sandbox.test.ts, which gives it a job and limits: asks for the job while no descriptor is free. */
const [job = '', limits = ''] = process.argv.slice(2)
const [patient, hasty] = [60_000, 1].map((maxWaitMs) => createSandbox({ ...JSON.parse(limits), maxWaitMs }))
const who = { projectId: 'p', ownerId: 'o' }
const held = holdAllDescriptors()
const running = patient?.run(who, JSON.parse(job) as SandboxJob)
const refused = await hasty?.run(who, JSON.parse(job) as SandboxJob)
for (const fd of held) closeSync(fd)
console.log(JSON.stringify([refused, await running]))
patient?.close()
hasty?.close()

function holdAllDescriptors(): number[] {
  const held: number[] = []
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch {
    return held
  }
}
