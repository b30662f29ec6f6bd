import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { words } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { interleave, ratios } from './lib/stats.ts'
import { publish, type Svc, startSvc } from './lib/svc.ts'

const PATH = '/page.html'

/** What the marks for a CDN cost: the same file with and without them. */
export async function benchCdn(lab: Lab, pace: Pace): Promise<Line[]> {
  const site = lab.folder('site')
  writeFileSync(join(site, 'page.html'), words(1024, 1))
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>Bench</title>')
  const plain = await startPublished(lab, site, {})
  const marked = await startPublished(lab, site, { CDN_KIND: 'varnish', CDN_URL: 'http://127.0.0.1:9' })
  const measure = (server: Svc) =>
    load({ ...server, pid: server.process.pid, path: PATH, seconds: pace.seconds })
  await measure(plain)
  await measure(marked)
  const results = await interleave([plain, marked], pace.rounds, measure)
  const rates = (server: Svc) => (results.get(server) ?? []).map((sample) => sample.requestsPerSecond)
  await plain.process.stop()
  await marked.process.stop()
  const samples = ratios(rates(marked), rates(plain))
  return [{ name: 'a file marked for a CDN', measure: 'marked/unmarked', samples, bar: { atLeast: 0.9 } }]
}

async function startPublished(lab: Lab, site: string, env: Readonly<Record<string, string>>): Promise<Svc> {
  const svc = await startSvc(lab, { env })
  await publish(svc, site, '0fa1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3')
  await untilQuiet(svc.process.pid)
  return svc
}
