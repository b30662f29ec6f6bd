import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf, writeTree } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { median, ratios } from './lib/stats.ts'
import { api, packed, publishArchive, type Svc, startSvc } from './lib/svc.ts'

const PAGES = 5000
/** With its links too small for compressed forms, so that nothing but the report is made in the background. */
const PAGE_BYTES = 200
/** Each to an address of its own, so that the site is asked for each. */
const LINKS_OF_A_PAGE = 40
const FOLDER_PAGES = 100
const REPORT_MS = 60_000
const POLL_MS = 100
const PAGE = '/part-0/page-0'

/** Requests a second while the report of a large site is made, over those of a quiet server. */
export async function benchReport(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSvc(lab)
  // Reports begin a few seconds after the start.
  await untilComplete(svc, await publishPages(lab, svc, pace.rounds))
  const [busy, idle]: [number[], number[]] = [[], []]
  for (let round = 0; round < pace.rounds; round++) {
    const deploymentId = await publishPages(lab, svc, round)
    busy.push(await serve(svc, pace))
    await expectRunning(svc, deploymentId)
    await untilComplete(svc, deploymentId)
    await untilQuiet(svc.process.pid)
    idle.push(await serve(svc, pace))
  }
  await svc.process.stop()
  return [
    {
      name: `serving while the report of ${PAGES} pages is made`,
      measure: 'report/idle',
      samples: ratios(busy, idle),
      bar: { atLeast: 0.45 },
      detail: `${median(busy).toFixed(0)} requests a second, against ${median(idle).toFixed(0)}`,
    },
  ]
}

async function publishPages(lab: Lab, svc: Svc, round: number): Promise<string> {
  const site = lab.folder('pages')
  writeTree(site, PAGES, PAGE_BYTES, round + 1)
  for (let page = 0; page < PAGES; page++) {
    const folder = Math.floor(page / FOLDER_PAGES)
    const links = Array.from(
      { length: LINKS_OF_A_PAGE },
      (_, at) => `<a href=/?${page * LINKS_OF_A_PAGE + at}>`,
    )
    appendFileSync(join(site, `part-${folder}`, `page-${page}.html`), links.join(''))
  }
  const { deployment } = await publishArchive(svc, await packed(site), commitOf(round))
  return deployment.id
}

async function serve(svc: Svc, { seconds }: Pace): Promise<number> {
  const asked = { port: svc.port, pid: svc.process.pid, host: svc.host, path: PAGE, seconds }
  return (await load(asked)).requestsPerSecond
}

async function statusOf(svc: Svc, deploymentId: string): Promise<string> {
  const report = await api(svc, 'GET', `/api/deployments/${deploymentId}/report`)
  return (report as { status: string }).status
}

/** A report that was done too soon was not there for all that was measured. */
async function expectRunning(svc: Svc, deploymentId: string): Promise<void> {
  const status = await statusOf(svc, deploymentId)
  if (status !== 'running')
    throw new Error(`the report was ${status} before the load ended: give fewer --seconds`)
}

async function untilComplete(svc: Svc, deploymentId: string): Promise<void> {
  const end = performance.now() + REPORT_MS
  let status = 'running'
  while (status === 'running' && performance.now() < end) {
    await Bun.sleep(POLL_MS)
    status = await statusOf(svc, deploymentId)
  }
  if (status !== 'complete') throw new Error(`after ${REPORT_MS} ms the report is ${status}`)
}
