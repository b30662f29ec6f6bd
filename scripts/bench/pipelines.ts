import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lab } from './lib/lab.ts'
import { ask, type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { FORM, pushRules } from './lib/pipeline-rules.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { freePort, type Server, startNginx, untilReady } from './lib/servers.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { api, publish, type Svc, startSvc } from './lib/svc.ts'
import { writeSite } from './static.ts'

/** One address under load. */
type Subject = {
  name: string
  server: Server
  path: string
  connections: number
  script?: string
}

const MANY = 256
/** In which both sandboxes have certainly begun. */
const START_MS = 500

/** Pipelines: what a durable post, a list of records and a function cost, and what a busy sandbox costs the files. */
export async function benchPipelines(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSvc(lab)
  const projectId = await prepare(lab, svc, pace)
  return [
    ...(await benchPosts(lab, svc, pace)),
    await benchList(lab, svc, pace),
    await benchFunction(svc, projectId, pace),
    await benchBusy(svc, pace),
  ]
}

/** The project with its pages and rules. Its id. */
async function prepare(lab: Lab, svc: Svc, pace: Pace): Promise<string> {
  await publish(svc, writeSite(lab), '9192919291929192919291929192919291929192')
  const projectId = await pushRules(svc, pace.seconds * 1000 + 2 * START_MS)
  await untilQuiet(svc.process.pid)
  return projectId
}

/**
 * POST form → validate → durable insert → JSON, against the same server with one commit a request, against no insert,
 * and against a bare `Bun.serve` that does it all by hand with one commit a request.
 */
async function benchPosts(lab: Lab, svc: Svc, pace: Pace): Promise<Line[]> {
  const each = await startCommitEach(lab, pace)
  const bare = await startBare(lab)
  const subject = async (name: string, server: Server, path: string): Promise<Subject> => {
    await expectPost(server, path)
    return { name, server, path, connections: MANY, script: writePost(lab, server.host) }
  }
  const insert = await subject('durable', svc, '/api/contact')
  const check = await subject('no insert', svc, '/api/check')
  const rival = await subject('commit each', each, '/api/contact')
  const byHand = await subject('bare, commit each', bare, '/')
  const results = await measure([insert, rival, check, byHand], pace)
  for (const server of [each, bare]) await server.process.stop()
  const line = (other: Subject, measure: string, more: Partial<Line>): Line => ({
    name: `POST, ${MANY} connections`,
    measure,
    samples: ratios(rates(results, insert), rates(results, other)),
    ...more,
  })
  return [
    line(rival, 'durable/commit each', { bar: { atLeast: 5 }, detail: figures(results) }),
    line(check, 'durable/no insert', { bar: { atLeast: 0.4, aim: 0.8 } }),
    line(byHand, 'durable/bare, commit each', {}),
  ]
}

/** Twenty records as JSON, against nginx with the same bytes in a file. */
async function benchList(lab: Lab, svc: Svc, pace: Pace): Promise<Line> {
  const folder = lab.folder('list')
  mkdirSync(join(folder, 'api'))
  const answer = await ask(svc, '/api/notes')
  const list = JSON.parse(new TextDecoder().decode(answer.body))
  if (!Array.isArray(list) || list.length !== 20) throw new Error('the list has not 20 records')
  writeFileSync(join(folder, 'api/notes'), answer.body)
  const nginx = await startNginx(lab, folder)
  const own: Subject = { name: 'svc', server: svc, path: '/api/notes', connections: 64 }
  const rival: Subject = { ...own, name: 'nginx', server: nginx }
  const results = await measure([own, rival], pace)
  await nginx.process.stop()
  return {
    name: 'GET 20 records',
    measure: 'svc/nginx',
    samples: ratios(rates(results, own), rates(results, rival)),
    bar: { atLeast: 0.3 },
    detail: figures(results),
  }
}

/** One call after the other; the step alone as the run log has it, the whole request beside it. */
async function benchFunction(svc: Svc, projectId: string, pace: Pace): Promise<Line> {
  const samples: number[] = []
  const requests: number[] = []
  for (let round = -1; round < pace.rounds; round++) {
    const { stepMs, requestMs } = await callFunction(svc, projectId)
    if (round === -1) continue // the sandbox starts
    samples.push(stepMs)
    requests.push(requestMs)
  }
  return {
    name: 'a trivial function step',
    measure: 'ms, p50',
    samples,
    bar: { atMost: 1 },
    detail: `whole request ${median(requests).toFixed(2)} ms`,
  }
}

const CALLS = 100

async function callFunction(svc: Svc, projectId: string): Promise<{ stepMs: number; requestMs: number }> {
  const requests: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const startedAt = performance.now()
    const { status, body } = await ask(svc, '/api/trivial')
    requests.push(performance.now() - startedAt)
    if (new TextDecoder().decode(body) !== '{"path":"/api/trivial"}')
      throw new Error(`the function answers ${status}`)
  }
  const path = `/api/projects/${projectId}/pipeline-runs?limit=${CALLS}`
  const { data } = (await api(svc, 'GET', path)) as { data: { steps: { durationMs: number }[] | null }[] }
  const steps = data.map(({ steps }) => steps?.[0]?.durationMs ?? Number.NaN)
  return { stepMs: median(steps), requestMs: median(requests) }
}

/** Files while both sandboxes of a project spin, against files alone. All of it shares the server's one core. */
async function benchBusy(svc: Svc, pace: Pace): Promise<Line> {
  const quiet: Subject = { name: 'quiet', server: svc, path: '/1k.html', connections: 64 }
  const busy: Subject = { ...quiet, name: 'busy' }
  await run(quiet, pace)
  const results = await interleave([quiet, busy], pace.rounds, async (subject) => {
    if (subject === quiet) return run(quiet, pace)
    const spins = [1, 2].map(() => ask(svc, '/api/spin'))
    await Bun.sleep(START_MS)
    const result = await run(busy, pace)
    for (const { status } of await Promise.all(spins))
      if (status !== 500) throw new Error(`a function that never ends answers ${status}`)
    return result
  })
  return {
    name: 'files, 1 KB',
    measure: 'busy/quiet sandbox',
    samples: ratios(rates(results, busy), rates(results, quiet)),
    bar: { atLeast: 0.5 },
    detail: figures(results),
  }
}

/** From the sources, where group commit can be taken out. */
async function startCommitEach(lab: Lab, pace: Pace): Promise<Svc> {
  const sources = join(import.meta.dir, '../../src/main.ts')
  const preload = join(import.meta.dir, 'lib/commit-each-plugin.ts')
  const each = await startSvc(lab, { command: [process.execPath, '--preload', preload, sources] })
  await prepare(lab, each, pace)
  return each
}

async function startBare(lab: Lab): Promise<Server> {
  const port = await freePort()
  const program = join(import.meta.dir, 'lib/commit-each.ts')
  const file = join(lab.folder('commit-each'), 'records.db')
  const child = lab.spawn([process.execPath, program, String(port), file])
  return untilReady({ name: 'bare', port, host: 'bench.localhost', process: child })
}

/** Sends the form, and fails unless it is kept. */
export async function expectPost(server: Server, path: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { host: server.host, ...FORM_HEADERS },
    body: FORM,
  })
  const body = await answer.text()
  if (answer.status !== 201 || JSON.parse(body).email !== 'ann@example.com')
    throw new Error(`${server.name} answered ${answer.status}: ${body}`)
}

const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' }

/** A wrk script that sends the form. */
export function writePost(lab: Lab, host: string): string {
  const file = join(lab.folder('post'), 'post.lua')
  const headers = Object.entries({ Host: host, ...FORM_HEADERS })
  writeFileSync(
    file,
    `wrk.method = 'POST'\nwrk.body = '${FORM}'\n${headers.map(([name, value]) => `wrk.headers['${name}'] = '${value}'\n`).join('')}`,
  )
  return file
}

type Results = Map<Subject, LoadResult[]>

async function measure(subjects: readonly Subject[], pace: Pace): Promise<Results> {
  for (const subject of subjects) await run(subject, pace)
  return interleave(subjects, pace.rounds, (subject) => run(subject, pace))
}

function run({ server, name: _, ...subject }: Subject, { seconds }: Pace): Promise<LoadResult> {
  return load({ ...subject, port: server.port, host: server.host, pid: server.process.pid, seconds })
}

const rates = (results: Results, subject: Subject): number[] =>
  (results.get(subject) ?? []).map(({ requestsPerSecond }) => requestsPerSecond)

function figures(results: Results): string {
  return [...results]
    .map(([subject, samples]) => {
      const rate = median(rates(results, subject)) / 1000
      const cpu = median(samples.map(({ cpuMicros }) => cpuMicros))
      return `${subject.name} ${rate.toFixed(1)}k/s ${cpu.toFixed(1)} us`
    })
    .join(', ')
}
