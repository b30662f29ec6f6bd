import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MANY } from './lib/backends.ts'
import type { Lab } from './lib/lab.ts'
import { load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import type { Line } from './lib/report.ts'
import { interleave, ratios } from './lib/stats.ts'
import type { Svc } from './lib/svc.ts'

/** Enough that each of the backends has kept connections before it is measured. */
const WARM_UP_SECONDS = 3

/** Requests that go round all backends, over the same requests to one of them, whose rule is in the middle of all. */
export async function manyBackends(lab: Lab, svc: Svc, { rounds, seconds }: Pace): Promise<Line> {
  const folder = lab.folder('many')
  const scriptOf = (name: string, next: string) => {
    const script = join(folder, `${name}.lua`)
    writeFileSync(script, lua(svc.host, next))
    return script
  }
  const subjects = [scriptOf('many', `turn % ${MANY}`), scriptOf('one', `${MANY / 2}`)]
  const run = (script: string, length: number) =>
    load({ ...svc, pid: svc.process.pid, path: '/', script, seconds: length })
  for (const script of subjects) await run(script, WARM_UP_SECONDS)
  const results = await interleave(subjects, rounds, (script) => run(script, seconds))
  const [many = [], one = []] = [...results.values()].map((samples) =>
    samples.map(({ requestsPerSecond }) => requestsPerSecond),
  )
  return {
    name: `${MANY} backends, 64 connections`,
    measure: 'many/one',
    samples: ratios(many, one),
    bar: { atLeast: 0.5, aim: 0.9 },
  }
}

const lua = (host: string, next: string) => `
local headers = { Host = "${host}" }
local turn = 0
function request()
  turn = turn + 1
  return wrk.format("GET", "/many/" .. (${next}) .. "/1k.bin", headers)
end
`
