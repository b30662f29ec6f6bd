import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Lab } from './lib/lab.ts'
import { ask } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { api, PROJECT, publish, type Svc, startSvc } from './lib/svc.ts'

const COMMITS = [
  'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',
] as const
const CALLS = 200

type Kind = { name: string; body: (call: number) => string }

/** Moving an alias against a request of the same length to the same route that changes nothing, one after the other. */
export async function benchRollback(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSvc(lab)
  for (const [version, commit] of COMMITS.entries()) await publish(svc, writeSite(lab, version), commit)
  await untilQuiet(svc.process.pid)
  const path = `/api/aliases/${await aliasId(svc)}`
  const move: Kind = { name: 'rollback', body: (call) => JSON.stringify({ commitSha: commitOf(call) }) }
  const noop: Kind = { name: 'no-op', body: (call) => JSON.stringify({ unchanged: commitOf(call) }) }
  const measure = (kind: Kind) => medianMs(svc, path, kind)
  await measure(noop)
  const results = await interleave([move, noop], pace.rounds, measure)
  await expectShown(svc, commitOf(CALLS - 1))
  await svc.process.stop()
  const [moves = [], noops = []] = [results.get(move), results.get(noop)]
  const detail = `rollback ${median(moves).toFixed(2)} ms, no-op ${median(noops).toFixed(2)} ms`
  return [
    { name: 'rollback', measure: 'PATCH/no-op', samples: ratios(moves, noops), bar: { atMost: 3 }, detail },
  ]
}

async function medianMs(svc: Svc, path: string, kind: Kind): Promise<number> {
  const times: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const body = kind.body(call)
    const start = performance.now()
    await api(svc, 'PATCH', path, body)
    times.push(performance.now() - start)
  }
  return median(times)
}

const commitOf = (call: number) => COMMITS[call % 2 === 0 ? 0 : 1]

async function aliasId(svc: Svc): Promise<string> {
  const [owner, repo] = PROJECT.split('/')
  const answer = (await api(svc, 'GET', `/api/aliases?owner=${owner}&repo=${repo}`)) as {
    data: { id: string }[]
  }
  const alias = answer.data[0]
  if (alias === undefined) throw new Error('the upload made no alias')
  return alias.id
}

async function expectShown(svc: Svc, commit: string): Promise<void> {
  const shown = (await ask(svc, '/')).headers.get('x-svc-commit')
  if (shown !== commit) throw new Error(`the site shows ${shown} after a rollback to ${commit}`)
}

function writeSite(lab: Lab, version: number): string {
  const folder = lab.folder('site')
  writeFileSync(join(folder, 'index.html'), `<!doctype html><title>Version ${version}</title>`)
  return folder
}
