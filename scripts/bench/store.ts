import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf, noise, writeTree } from './lib/content.ts'
import { ALL_CORES, type Lab } from './lib/lab.ts'
import { load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { pushRules } from './lib/pipeline-rules.ts'
import { peakMegabytes, resetPeak, untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { deploy, packed, publish, publishArchive, type Svc, startSvc } from './lib/svc.ts'
import { expectPost, writePost } from './pipelines.ts'
import { writeSite } from './static.ts'
import { type Ceph, newPlace, type Place, startCeph } from './store-ceph.ts'
import { startDelayingRelay } from './store-relay.ts'
import { benchRestore } from './store-restore.ts'

const FILES = 5000
const FILE_BYTES = 10_240
const VARIANTS_MS = 180_000
const MAX_PUBLISHES = 2
const WARM_COMMITS = 50
const COMMITS = 300
const AWAY_MS = 30
/** A form waits for the object on its way and for its own: each connection sends about ten a second. */
const CONNECTIONS_FOR_2000 = 240
const CONNECTIONS_FOR_500 = 60

type Part = (lab: Lab, pace: Pace, ceph: Ceph) => Promise<Line>
const PARTS: readonly Part[] = [
  comparePublishes,
  compareCommit,
  countObjects,
  serveBesideCommits,
  benchRestore,
  peakOfUpload,
]

/** A workspace in an object store: a Ceph on this machine, near or 30 ms away. */
export async function benchStore(lab: Lab, pace: Pace): Promise<Line[]> {
  const ceph = await startCeph()
  try {
    const lines: Line[] = []
    for (const part of PARTS) lines.push(await part(lab, pace, ceph))
    return lines
  } finally {
    ceph.stop()
  }
}

async function comparePublishes(lab: Lab, pace: Pace, ceph: Ceph): Promise<Line> {
  const place = await newPlace(ceph.port)
  const stored = await startSvc(lab, { env: place.env })
  const local = await startSvc(lab)
  let turn = 0
  const timedPublish = async (svc: Svc): Promise<number> => {
    const site = lab.folder('texts')
    turn += 1
    writeTree(site, FILES, FILE_BYTES, turn)
    const archive = await packed(site)
    await untilQuiet(svc.process.pid, VARIANTS_MS)
    return timed(() => publishArchive(svc, archive, commitOf(turn)))
  }
  const results = await interleave([stored, local], Math.min(pace.rounds, MAX_PUBLISHES), timedPublish)
  const [ours = [], theirs = []] = [results.get(stored), results.get(local)]
  await Promise.all([stored.process.stop(), local.process.stop()])
  return {
    name: `publish of ${FILES} files of 10 KB, time`,
    measure: 'with/without',
    samples: ratios(ours, theirs),
    bar: { atMost: 2.5 },
    detail: `${median(ours).toFixed(0)} ms with, ${median(theirs).toFixed(0)} ms without`,
  }
}

/** One form after another, and in turn one PUT of as many bytes as the object of a form has. */
async function compareCommit(lab: Lab, pace: Pace, ceph: Ceph): Promise<Line> {
  const place = await newPlace(ceph.port)
  const svc = await startSite(lab, pace, place)
  const commit = () => expectPost(svc, '/api/contact')
  const before = await logOf(place)
  for (let warm = 0; warm < WARM_COMMITS; warm++) await commit()
  const after = await logOf(place)
  const bytes = Math.round((after.bytes - before.bytes) / (after.objects - before.objects))
  const put = (turn: number) => place.store.create(`bench/${turn}`, noise(bytes), { epoch: 1 })
  const results = await interleave([commit, put], COMMITS, (work, turn) => timed(() => work(turn)))
  const [commits = [], puts = []] = [results.get(commit), results.get(put)]
  await svc.process.stop()
  return {
    name: 'one commit, p50',
    measure: 'commit/PUT',
    samples: [median(commits) / median(puts)],
    bar: { atMost: 2.5 },
    detail: `${median(commits).toFixed(1)} ms, PUT of ${bytes} B ${median(puts).toFixed(1)} ms`,
  }
}

async function countObjects(lab: Lab, pace: Pace, ceph: Ceph): Promise<Line> {
  const near = await newPlace(ceph.port)
  const relay = await startDelayingRelay(ceph.port, AWAY_MS)
  const env = { ...near.env, STORE_ENDPOINT: `http://127.0.0.1:${relay.port}` }
  const svc = await startSite(lab, pace, { ...near, env })
  const samples: number[] = []
  const rates: number[] = []
  for (let round = 0; round < pace.rounds; round++) {
    const before = await logOf(near)
    const rate = await commitFor(lab, svc, pace.seconds, CONNECTIONS_FOR_2000)
    rates.push(rate)
    samples.push(((await logOf(near)).objects - before.objects) / (rate * pace.seconds))
  }
  await svc.process.stop()
  relay.close()
  return {
    name: `commits with the store ${AWAY_MS} ms away`,
    measure: 'objects/commits',
    samples,
    bar: { atMost: 0.1 },
    detail: `${median(rates).toFixed(0)} commits/s`,
  }
}

async function serveBesideCommits(lab: Lab, pace: Pace, ceph: Ceph): Promise<Line> {
  const near = await newPlace(ceph.port)
  const relay = await startDelayingRelay(ceph.port, AWAY_MS)
  const env = { ...near.env, STORE_ENDPOINT: `http://127.0.0.1:${relay.port}` }
  const svc = await startSite(lab, pace, { ...near, env })
  const files = () => load({ ...svc, pid: svc.process.pid, path: '/10k.html', seconds: pace.seconds })
  const commits: number[] = []
  const measure = async (kind: 'beside' | 'alone'): Promise<number> => {
    if (kind === 'alone') return (await files()).requestsPerSecond
    const [{ requestsPerSecond }, rate] = await Promise.all([
      files(),
      commitFor(lab, svc, pace.seconds, CONNECTIONS_FOR_500),
    ])
    commits.push(rate)
    return requestsPerSecond
  }
  await files()
  const results = await interleave(['beside', 'alone'] as const, pace.rounds, measure)
  const [beside = [], alone = []] = [results.get('beside'), results.get('alone')]
  await svc.process.stop()
  relay.close()
  return {
    name: 'files of 10 KB beside commits',
    measure: 'beside/alone',
    samples: ratios(beside, alone),
    bar: { atLeast: 0.7 },
    detail: `${thousands(beside)} beside ${median(commits).toFixed(0)} commits/s, ${thousands(alone)} alone`,
  }
}

const thousands = (rates: readonly number[]) => `${(median(rates) / 1000).toFixed(1)}k/s`

/** Highest resident memory over that at rest while 1 GiB arrives in one file. */
async function peakOfUpload(lab: Lab, _pace: Pace, ceph: Ceph): Promise<Line> {
  const place = await newPlace(ceph.port)
  const svc = await startSvc(lab, { cores: ALL_CORES, env: place.env })
  const site = lab.folder('large')
  const chunk = noise(2 ** 24)
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>Large</title>')
  for (let written = 0; written < 2 ** 30; written += chunk.length)
    appendFileSync(join(site, 'large.bin'), chunk)
  await untilQuiet(svc.process.pid)
  resetPeak(svc.process.pid)
  const idle = peakMegabytes(svc.process.pid)
  const ms = await timed(() => deploy(svc, site, { project: 'acme/large' }))
  const samples = [((peakMegabytes(svc.process.pid) - idle) * 1e6) / 2 ** 20]
  await svc.process.stop()
  return {
    name: 'upload of 1 GiB, memory over idle',
    measure: 'MiB',
    samples,
    bar: { atMost: 100 },
    detail: `${idle.toFixed(0)} MB idle, ${(ms / 1000).toFixed(1)} s`,
  }
}

async function startSite(lab: Lab, pace: Pace, { env }: Place): Promise<Svc> {
  const svc = await startSvc(lab, { env })
  await publish(svc, writeSite(lab), commitOf(1))
  await pushRules(svc, pace.seconds * 1000)
  await untilQuiet(svc.process.pid)
  return svc
}

/** Forms that are kept, from so many visitors at once. How many a second. */
async function commitFor(lab: Lab, svc: Svc, seconds: number, connections: number): Promise<number> {
  const script = writePost(lab, svc.host)
  const options = { path: '/api/contact', seconds, connections, script, pid: svc.process.pid }
  return (await load({ ...svc, ...options })).requestsPerSecond
}

async function logOf({ store }: Place): Promise<{ objects: number; bytes: number }> {
  let [objects, bytes] = [0, 0]
  for await (const { sizeBytes } of store.list('db/0000/')) {
    objects += 1
    bytes += sizeBytes
  }
  return { objects, bytes }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
