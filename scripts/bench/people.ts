import { cpSync } from 'node:fs'
import { cookieOf } from './lib/accounts.ts'
import type { Lab } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import { type Crowd, fillUp } from './lib/pages-seed.ts'
import { makeOneOfEach } from './lib/pages-world.ts'
import { threadMicros, untilQuiet } from './lib/proc.ts'
import type { Bar, Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { type Svc, startSvc } from './lib/svc.ts'
import { timePublishes } from './writes.ts'

/** Of the deployments a project has half. */
const FEW: Crowd = { projects: 10, deployments: 20, records: 10 }
const MANY: Crowd = { projects: 1000, deployments: 20_000, records: 10 }
/** Requests in a round, and before the first so that nothing is measured cold. */
const REQUESTS = 20
const WARM_UP = 40
const QUERIES = ['backup', 'restore a backup', 'who can see', 'certificate renew', 'no such words at all']

type Installation = { svc: Svc; cookie: string; projectId: string }
type Asked = Installation & { path: string }

/** What the pages for people cost the server: with many things, against the build before them, and beside each other. */
export async function benchPeople(lab: Lab, pace: Pace): Promise<Line[]> {
  const few = await startFilled(lab, FEW)
  const { many, before } = await startMany(lab)
  const lines: Line[] = []
  if (before !== undefined) lines.push(await compareHome(many, before, pace))
  lines.push(await compareLists(many, few, '/api/deployments?projectId=ID', pace))
  lines.push(await compareLists(many, few, '/projects/ID/deployments', pace))
  lines.push(await compareSearch(few, pace))
  for (const each of [few, many, before]) await each?.svc.process.stop()
  const published = await comparePublishes(lab, pace)
  return [...lines, ...(published === undefined ? [] : [published])]
}

async function startFilled(lab: Lab, crowd: Crowd): Promise<Installation> {
  const { dataDir, projectId } = await fill(lab, crowd, [])
  return open(lab, dataDir, projectId, [])
}

/** The same data for both builds: that of the earlier one, and a copy of it that this one brought up to date. */
async function startMany(lab: Lab): Promise<{ many: Installation; before: Installation | undefined }> {
  const baseline = process.env['SVC_BASELINE']
  if (baseline === undefined) {
    console.warn('people: SVC_BASELINE names the executable to compare with; left out')
    return { many: await startFilled(lab, MANY), before: undefined }
  }
  const { dataDir, projectId } = await fill(lab, MANY, [baseline])
  const copy = lab.folder('copy')
  cpSync(dataDir, copy, { recursive: true })
  return {
    many: await open(lab, copy, projectId, []),
    before: await open(lab, dataDir, projectId, [baseline]),
  }
}

async function fill(lab: Lab, crowd: Crowd, command: readonly string[]) {
  const svc = await startSvc(lab, command.length === 0 ? {} : { command })
  const { models } = await makeOneOfEach(lab, svc)
  await svc.process.stop()
  fillUp(svc.dataDir, models, crowd)
  return { dataDir: svc.dataDir, projectId: models.projectId }
}

async function open(
  lab: Lab,
  dataDir: string,
  projectId: string,
  command: readonly string[],
): Promise<Installation> {
  const svc = await startSvc(lab, { dataDir, ...(command.length === 0 ? {} : { command }) })
  await untilQuiet(svc.process.pid)
  return { svc, cookie: await cookieOf(svc), projectId }
}

async function compareHome(many: Installation, before: Installation, pace: Pace): Promise<Line> {
  await expectPictures(many)
  const samples = await measure({ ...many, path: '/' }, { ...before, path: '/' }, pace)
  return line(`home with ${MANY.projects} projects`, 'now/before', samples, { atMost: 2, aim: 1.2 })
}

/** What was measured without them would mean nothing. */
async function expectPictures(installation: Installation): Promise<void> {
  const text = await (await ask({ ...installation, path: '/' })).text()
  const count = text.split('<iframe').length - 1
  if (count !== 12) throw new Error(`home shows ${count} pictures`)
}

async function compareLists(many: Installation, few: Installation, path: string, pace: Pace): Promise<Line> {
  const at = (installation: Installation): Asked => ({
    ...installation,
    path: path.replace('ID', installation.projectId),
  })
  const samples = await measure(at(many), at(few), pace)
  const name = `${path.startsWith('/api/') ? 'list' : 'page'} of deployments`
  return line(name, '10,000/ten', samples, { atMost: 3, aim: 1.5 })
}

async function compareSearch(installation: Installation, pace: Pace): Promise<Line> {
  const search = { ...installation, path: '/docs/search.json?q=QUERY' }
  const samples = await measure(search, { ...installation, path: '/docs/operating' }, pace)
  return line('search in the documents', 'search/page', samples, { atMost: 2, aim: 0.5 })
}

async function comparePublishes(lab: Lab, pace: Pace): Promise<Line | undefined> {
  const baseline = process.env['SVC_BASELINE']
  if (baseline === undefined) return undefined
  const own = await startSvc(lab)
  const other = await startSvc(lab, { command: [baseline] })
  // The first one of each is cold.
  await timePublishes(lab, own, other, { ...pace, rounds: 1 })
  const { ours, theirs } = await timePublishes(lab, own, other, pace)
  for (const svc of [own, other]) await svc.process.stop()
  return {
    name: 'publish with number, title and icon, time',
    measure: 'now/before',
    samples: ratios(ours, theirs),
    bar: { atMost: 1.3, aim: 1.03 },
    detail: `${median(ours).toFixed(0)} ms, against ${median(theirs).toFixed(0)} ms`,
  }
}

type Samples = { ours: number[]; others: number[] }

/** CPU of the server for a request of each, in turn. */
async function measure(own: Asked, other: Asked, { rounds }: Pace): Promise<Samples> {
  for (const each of [own, other]) await microsOf(each, WARM_UP)
  const results = await interleave([own, other], rounds, (each) => microsOf(each, REQUESTS))
  return { ours: results.get(own) ?? [], others: results.get(other) ?? [] }
}

async function microsOf(asked: Asked, requests: number): Promise<number> {
  const before = threadMicros(asked.svc.process.pid)
  for (let request = 0; request < requests; request++) {
    const query = encodeURIComponent(QUERIES[request % QUERIES.length] ?? '')
    await (await ask({ ...asked, path: asked.path.replace('QUERY', query) })).arrayBuffer()
  }
  return (threadMicros(asked.svc.process.pid) - before) / requests
}

async function ask({ svc, cookie, path }: Asked): Promise<Response> {
  const headers = { cookie, host: `localhost:${svc.port}` }
  const answer = await fetch(`${svc.url}${path}`, { headers, redirect: 'manual' })
  if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`)
  return answer
}

const line = (name: string, measured: string, { ours, others }: Samples, bar: Bar): Line => ({
  name,
  measure: measured,
  samples: ratios(ours, others),
  bar,
  detail: `${median(ours).toFixed(0)} us of CPU, against ${median(others).toFixed(0)} us`,
})
