import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf, words, writeTree } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { ask, type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { packed, publish, publishArchive, type Svc, startSvc } from './lib/svc.ts'

const FILES = 1000
const VERSIONS = 50
const PUBLISHED_FILES = 5000
const FILE_BYTES = 1024
const SHA = '0e2510e2510e2510e2510e2510e2510e2510e251'
const PATH = '/part-3/page-333.html'
/** Compressed forms of many files; none of it may fall into a measurement. */
const VARIANTS_MS = 180_000

/** Serving costs the same however many versions are stored, and a version of the same commit what one of another costs. */
export async function benchVersions(lab: Lab, pace: Pace): Promise<Line[]> {
  return [...(await compareServing(lab, pace)), await comparePublishes(lab, pace)]
}

async function compareServing(lab: Lab, pace: Pace): Promise<Line[]> {
  const baseline = process.env['SVC_BASELINE']
  const site = lab.folder('site')
  writeTree(site, FILES, FILE_BYTES, 1)
  const many = await startSite(lab, site, VERSIONS)
  const one = await startSite(lab, site, 1)
  const before = baseline === undefined ? undefined : await startSite(lab, site, 1, [baseline])
  const servers = [many, one, ...(before === undefined ? [] : [before])]
  const asked = (svc: Svc) => load({ ...svc, pid: svc.process.pid, path: PATH, seconds: pace.seconds })
  for (const svc of servers) await asked(svc)
  const results = await interleave(servers, pace.rounds, asked)
  for (const svc of servers) await svc.process.stop()
  const ours = cpu(results.get(many))
  const line = (measure: string, theirs: readonly number[]): Line => ({
    name: `1 KB, ${VERSIONS} versions of ${FILES} files`,
    measure,
    samples: ratios(theirs, ours),
    bar: { atLeast: 0.9, aim: 1 },
    detail: `${median(ours).toFixed(1)} us of CPU, against ${median(theirs).toFixed(1)} us`,
  })
  if (before === undefined)
    console.warn('versions: SVC_BASELINE names the executable to compare with; left out')
  return [
    line('one/many', cpu(results.get(one))),
    ...(before === undefined ? [] : [line('before/now', cpu(results.get(before)))]),
  ]
}

async function startSite(
  lab: Lab,
  site: string,
  versions: number,
  command?: readonly string[],
): Promise<Svc> {
  const svc = await startSvc(lab, command === undefined ? {} : { command })
  for (let version = 1; version <= versions; version++) {
    changeOneFile(site, version)
    await publish(svc, site, SHA)
  }
  await untilQuiet(svc.process.pid, VARIANTS_MS)
  const { status } = await ask(svc, PATH)
  if (status !== 200) throw new Error(`${PATH} answers ${status}`)
  return svc
}

/** All of them again with one changed: to the commit that is there, and to another. */
async function comparePublishes(lab: Lab, pace: Pace): Promise<Line> {
  const site = lab.folder('texts')
  writeTree(site, PUBLISHED_FILES, FILE_BYTES, 2)
  const svc = await startSvc(lab)
  await publish(svc, site, SHA)
  let turn = 0
  const timed = async (kind: 'same' | 'new'): Promise<number> => {
    turn += 1
    changeOneFile(site, turn)
    const archive = await packed(site)
    await untilQuiet(svc.process.pid, VARIANTS_MS)
    const start = performance.now()
    await publishArchive(svc, archive, kind === 'same' ? SHA : commitOf(turn))
    return performance.now() - start
  }
  for (const kind of ['same', 'new'] as const) await timed(kind)
  const results = await interleave(['same', 'new'] as const, pace.rounds, timed)
  await svc.process.stop()
  const [same = [], other = []] = [results.get('same'), results.get('new')]
  return {
    name: `${PUBLISHED_FILES} files again, one changed, time`,
    measure: 'same/new SHA',
    samples: ratios(same, other),
    bar: { atMost: 1.5, aim: 1.1 },
    detail: `${median(same).toFixed(0)} ms to the same, ${median(other).toFixed(0)} ms to a new one`,
  }
}

const changeOneFile = (site: string, turn: number): void =>
  writeFileSync(join(site, 'changed.html'), words(FILE_BYTES, 1000 + turn))

const cpu = (samples: readonly LoadResult[] = []) => samples.map(({ cpuMicros }) => cpuMicros)
