import { commitOf } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { pushPipelines } from './lib/site-pipelines.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { api, packed, publishArchive, type Svc, startSvc } from './lib/svc.ts'

const PROJECTS = 100
/** The most of a project. */
const EACH = 100
const STEPS = { '/api/tick': { handlerType: 'response_handler', config: { body: '1' } } }

/** What visitors notice of ten thousand schedules of which none is due: static files, in the server's time for each. */
export async function benchSchedules(lab: Lab, pace: Pace): Promise<Line[]> {
  const [quiet, full] = [await startSvc(lab), await startSvc(lab)]
  for (const svc of [quiet, full]) await pushPipelines(lab, svc, STEPS, [])
  const folder = lab.folder('small')
  await Bun.write(`${folder}/index.html`, 'x')
  await fill(full, folder)
  for (const svc of [quiet, full]) {
    await untilQuiet(svc.process.pid)
    await visit(svc, pace)
  }
  const results = await interleave([quiet, full], pace.rounds, (svc) => visit(svc, pace))
  for (const svc of [quiet, full]) await svc.process.stop()
  const cpu = (svc: Svc) => (results.get(svc) ?? []).map(({ cpuMicros }) => cpuMicros)
  return [
    {
      name: `${PROJECTS * EACH} schedules, none due`,
      measure: 'none/schedules, CPU',
      samples: ratios(cpu(quiet), cpu(full)),
      bar: { atLeast: 0.9, aim: 1 },
      detail: `${median(cpu(full)).toFixed(1)} us, without ${median(cpu(quiet)).toFixed(1)} us`,
    },
  ]
}

/** Once a year, on the day after today. */
function cronOf(minute: number): string {
  const tomorrow = new Date(Date.now() + 24 * 3600 * 1000)
  return `${minute % 60} 12 ${tomorrow.getUTCDate()} ${tomorrow.getUTCMonth() + 1} *`
}

async function fill(svc: Svc, folder: string): Promise<void> {
  const schedules = Array.from({ length: EACH }, (_, i) => ({
    name: `s${i}`,
    cron: cronOf(i),
    rule: 'POST /tick',
  }))
  const pipelineConfig = { steps: [STEPS['/api/tick']] }
  const rules = [{ pathPattern: '/tick', method: 'POST', pipelineConfig }]
  const archive = await packed(folder)
  for (let i = 0; i < PROJECTS; i++) {
    const { deployment } = await publishArchive(svc, archive, commitOf(i + 3), `acme/p${i}`)
    const push = { ruleSet: { name: 'ticks' }, rules, schedules }
    await api(svc, 'PUT', `/api/proxy-rule-sets/project/${deployment.projectId}/sync`, JSON.stringify(push))
  }
}

const visit = (svc: Svc, pace: Pace): Promise<LoadResult> =>
  load({ port: svc.port, host: svc.host, pid: svc.process.pid, path: '/index.html', seconds: pace.seconds })
