import { commitOf } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { postSite, pushPipelines } from './lib/site-pipelines.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { api, packed, publishArchive, type Svc, startSvc } from './lib/svc.ts'

const READERS = 4
const RECORDS = 24
const RECORD_BYTES = 2_000_000
const ENDLESS = 8
const CALLS = 20

const endless = {
  handlerType: 'function_handler',
  config: { code: 'const handler = () => { for (;;); }', timeout: 30_000 },
}
const trivial = { handlerType: 'function_handler', config: { code: 'const handler = () => 1' } }
const LARGE = { name: 'large', fields: [{ name: 'text', type: 'text' }] }

/** What a site notices of others on its server: who reads very large records, and whose functions never end. */
export async function benchNeighbours(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSvc(lab, { env: { MAX_RECORD_BYTES: String(2 * 1024 * 1024) } })
  const projectId = await pushPipelines(lab, svc, { '/api/endless': endless }, [LARGE])
  const lines = [await benchReaders(svc, projectId, pace), await benchFunctions(lab, svc, pace)]
  await svc.process.stop()
  return lines
}

async function benchReaders(svc: Svc, projectId: string, pace: Pace): Promise<Line> {
  const { schemas } = (await api(svc, 'GET', `/api/schemas?projectId=${projectId}`)) as {
    schemas: { id: string }[]
  }
  const path = `/api/schemas/${schemas[0]?.id}/records`
  const record = JSON.stringify({ text: 'x'.repeat(RECORD_BYTES) })
  for (let i = 0; i < RECORDS; i++) await api(svc, 'POST', path, record)
  await untilQuiet(svc.process.pid)
  const visit = () =>
    load({ port: svc.port, host: svc.host, pid: svc.process.pid, path: '/index.html', seconds: pace.seconds })
  await visit()
  const alone = visit
  const beside = async (): Promise<LoadResult> => {
    const end = performance.now() + pace.seconds * 1000
    const readers = Array.from({ length: READERS }, () => readUntil(svc, path, end))
    const result = await visit()
    await Promise.all(readers)
    return result
  }
  const results = await interleave([beside, alone], pace.rounds, (one) => one())
  const rates = (of: () => Promise<LoadResult>) =>
    (results.get(of) ?? []).map(({ requestsPerSecond }) => requestsPerSecond)
  return {
    name: `files, ${READERS} readers of records of 2 MB`,
    measure: 'beside/alone',
    samples: ratios(rates(beside), rates(alone)),
    bar: { atLeast: 0.5 },
    detail: `${median(rates(beside)).toFixed(0)}/s, alone ${median(rates(alone)).toFixed(0)}/s`,
  }
}

type Page = { pagination: { nextOffset?: number } }

async function readUntil(svc: Svc, path: string, end: number): Promise<void> {
  for (let offset = 0; performance.now() < end; ) {
    const page = (await api(svc, 'GET', `${path}?limit=100&offset=${offset}`)) as Page
    offset = page.pagination.nextOffset ?? 0
  }
}

/** Calls of the other owner's function, each with a process of its own to begin with, alone and beside the endless ones. */
async function benchFunctions(lab: Lab, svc: Svc, pace: Pace): Promise<Line> {
  const other = await pushOther(lab, svc)
  const alone = () => medianCall(other)
  const beside = async () => {
    const spinning = Array.from({ length: ENDLESS }, () => postSite(svc, '/api/endless', {}).catch(() => {}))
    await Bun.sleep(500)
    const ms = await medianCall(other)
    await Promise.all(spinning)
    return ms
  }
  await alone()
  const results = await interleave([alone, beside], pace.rounds, (one) => one())
  const [quiet = [], busy = []] = [results.get(alone), results.get(beside)]
  return {
    name: `a trivial function, ${ENDLESS} endless ones of another owner`,
    measure: 'beside/alone',
    samples: ratios(busy, quiet),
    bar: { atMost: 6, aim: 3 },
    detail: `${median(busy).toFixed(1)} ms, alone ${median(quiet).toFixed(1)} ms`,
  }
}

async function pushOther(lab: Lab, svc: Svc): Promise<Svc> {
  const folder = lab.folder('other')
  await Bun.write(`${folder}/index.html`, 'x')
  const { deployment } = await publishArchive(svc, await packed(folder), commitOf(3), 'other/site')
  const rules = [{ pathPattern: '/api/trivial', pipelineConfig: { steps: [trivial] } }]
  await api(
    svc,
    'PUT',
    `/api/proxy-rule-sets/project/${deployment.projectId}/sync`,
    JSON.stringify({ ruleSet: { name: 'f' }, rules }),
  )
  return { ...svc, host: 'production--site--other.localhost' }
}

async function medianCall(svc: Svc): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < CALLS; i++) {
    const start = performance.now()
    await postSite(svc, '/api/trivial', {})
    times.push(performance.now() - start)
  }
  return median(times)
}
