import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { words } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { ask, type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Bar, Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { addRule, publish, type Svc, startSvc } from './lib/svc.ts'

const RULES = 50
const FOLDER = 'caf\u00e9 @me (draft)'
const ESCAPED = '/caf%C3%A9%20%40me%20%28draft%29/%70age.html'

/** One kind of path, asked for as it is and with a query, which is looked up each time. */
const CASES: readonly { name: string; path: string; rules: boolean; bar: Bar }[] = [
  { name: 'small file', path: '/page.html', rules: false, bar: { atLeast: 0.9, aim: 1 } },
  { name: `${RULES} rules, plain path`, path: '/docs/page.html', rules: true, bar: { atLeast: 0.9, aim: 1 } },
  { name: `${RULES} rules, escapes`, path: ESCAPED, rules: true, bar: { atLeast: 0.6, aim: 0.9 } },
]

/** CPU a request of the build that `SVC_BASELINE` names over that of this one: 1 is the same, more is cheaper. */
export async function benchPaths(lab: Lab, pace: Pace): Promise<Line[]> {
  const baseline = process.env['SVC_BASELINE']
  if (baseline === undefined) {
    console.warn('paths: SVC_BASELINE names the executable to compare with; skipped')
    return []
  }
  const lines: Line[] = []
  for (const rules of [false, true]) {
    const own = await startSite(lab, rules)
    const other = await startSite(lab, rules, [baseline])
    for (const each of CASES.filter((one) => one.rules === rules))
      for (const query of ['', '?v=1']) {
        const name = `${each.name}${query === '' ? '' : ', with a query'}`
        lines.push(await compare({ name, path: each.path + query, bar: each.bar }, own, other, pace))
      }
    await own.process.stop()
    await other.process.stop()
  }
  return lines
}

async function startSite(lab: Lab, withRules: boolean, command?: readonly string[]): Promise<Svc> {
  const svc = await startSvc(lab, command === undefined ? {} : { command })
  const site = lab.folder('site')
  for (const folder of ['.', 'docs', FOLDER]) {
    mkdirSync(join(site, folder), { recursive: true })
    writeFileSync(join(site, folder, 'page.html'), words(1024, 1))
  }
  await publish(svc, site, '9a75a9a75a9a75a9a75a9a75a9a75a9a75a9a75a')
  for (let rule = 0; withRules && rule < RULES; rule++)
    await addRule(svc, `/never-${rule}/*/asked for`, '/page.html')
  await untilQuiet(svc.process.pid)
  return svc
}

type Case = { name: string; path: string; bar: Bar }

async function compare({ name, path, bar }: Case, own: Svc, other: Svc, pace: Pace): Promise<Line> {
  const asked = (svc: Svc) => load({ ...svc, pid: svc.process.pid, path, seconds: pace.seconds })
  for (const svc of [own, other]) {
    const { status } = await ask(svc, path)
    if (status !== 200) throw new Error(`${path} answers ${status}`)
    await asked(svc)
  }
  const results = await interleave([own, other], pace.rounds, asked)
  const [ours, theirs] = [cpu(results.get(own)), cpu(results.get(other))]
  const detail = `${median(theirs).toFixed(1)} us before, ${median(ours).toFixed(1)} us now`
  return { name, measure: 'before/now', samples: ratios(theirs, ours), bar, detail }
}

const cpu = (samples: readonly LoadResult[] = []) => samples.map(({ cpuMicros }) => cpuMicros)
