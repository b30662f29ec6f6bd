import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findEnd } from '../../src/db/replication/log-objects.ts'
import { logKey } from '../../src/domain/store-keys.ts'
import type { ObjectStore } from '../../src/platform/object-store.ts'
import { until } from '../../src/testing/until.ts'
import { commitOf, words } from './lib/content.ts'
import { ALL_CORES, type Lab, type Process } from './lib/lab.ts'
import { ask, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { freePort, type Server, untilReady } from './lib/servers.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { publish, type Svc, spawnSvc, startSvc } from './lib/svc.ts'
import { type Ceph, newPlace, type Place, startCeph } from './store-ceph.ts'

const PATH = '/page.html'
const CHANGES = 40
const NODE_SECRET = 'of the machines of this bench, and of no other'
const STEP_MS = 10

/** Machines that follow another, on a Ceph of this machine: what they cost, how late they are, how soon one takes over. */
export async function benchMachines(lab: Lab, pace: Pace): Promise<Line[]> {
  const ceph = await startCeph()
  try {
    return [...(await besidePrimary(lab, pace, ceph)), await compareReady(lab, pace, ceph)]
  } finally {
    ceph.stop()
  }
}

async function besidePrimary(lab: Lab, pace: Pace, ceph: Ceph): Promise<Line[]> {
  const place = await newPlace(ceph.port)
  const site = lab.folder('site')
  writeFileSync(join(site, 'page.html'), words(1024, 1))
  const single = await startSvc(lab)
  await publish(single, site, commitOf(1))
  const primary = await startPrimary(lab, place)
  await publish(primary, site, commitOf(1))
  const node = await startFollower(lab, place, 'node', primary.host)
  await until('the site on the node', async () => (await ask(node, PATH)).status === 200)
  const lines = [await compareHotFile(pace, single, node), await compareSeen(lab, primary, node)]
  for (const { process } of [node, primary, single]) await process.stop()
  return lines
}

async function compareHotFile(pace: Pace, single: Server, node: Server): Promise<Line> {
  await untilQuiet(single.process.pid)
  const measure = (server: Server) =>
    load({ ...server, pid: server.process.pid, path: PATH, seconds: pace.seconds })
  for (const server of [single, node]) await measure(server)
  const results = await interleave([single, node], pace.rounds, measure)
  const cpu = (server: Server) => (results.get(server) ?? []).map(({ cpuMicros }) => cpuMicros)
  return {
    name: 'a file of 1 KB on a node, CPU a request',
    measure: 'single/node',
    samples: ratios(cpu(single), cpu(node)),
    bar: { atLeast: 0.9, aim: 1 },
    detail: `${median(cpu(node)).toFixed(1)} us, ${median(cpu(single)).toFixed(1)} us`,
  }
}

/** From the answer to a publish to the first answer of the node that shows it. */
async function compareSeen(lab: Lab, primary: Svc, node: Server): Promise<Line> {
  const times: number[] = []
  for (let turn = 2; turn < 2 + CHANGES; turn++) {
    const site = lab.folder('site')
    writeFileSync(join(site, 'page.html'), `turn ${turn}`)
    await publish(primary, site, commitOf(turn))
    const startedAt = performance.now()
    const isSeen = async () => Buffer.from((await ask(node, PATH)).body).toString() === `turn ${turn}`
    while (!(await isSeen())) await Bun.sleep(STEP_MS)
    times.push(performance.now() - startedAt)
  }
  const p95 = times.toSorted((a, b) => a - b)[Math.ceil(CHANGES * 0.95) - 1] ?? Number.NaN
  return {
    name: `a change is seen on a node, p95 of ${CHANGES}`,
    measure: 'ms',
    samples: [p95],
    bar: { atMost: 1_000, aim: 600 },
    detail: `p50 ${median(times).toFixed(0)} ms, a look each 500 ms`,
  }
}

/** From the number that a stand-by creates to its first moment as the primary. */
async function compareReady(lab: Lab, pace: Pace, ceph: Ceph): Promise<Line> {
  const times: number[] = []
  for (let round = 0; round < pace.rounds; round++) {
    const place = await newPlace(ceph.port)
    const primary = await startPrimary(lab, place)
    const standby = await startFollower(lab, place, 'standby', 'localhost')
    await primary.process.stop()
    times.push(await timeToReady(place.store, standby))
    await standby.process.stop()
  }
  return {
    name: 'ready to write after the created number',
    measure: 'ms',
    samples: times,
    bar: { atMost: 2_000, aim: 500 },
  }
}

async function timeToReady(store: ObjectStore, standby: Server): Promise<number> {
  const isReady = async () => (await ask(standby, '/api/health/primary')).status === 200
  const end = await findEnd(store)
  const isTaken = async () => (await store.head(logKey(end + 1))) !== null
  while (!(await isReady()) && !(await isTaken())) await Bun.sleep(STEP_MS)
  const startedAt = performance.now()
  while (!(await isReady())) await Bun.sleep(STEP_MS)
  return performance.now() - startedAt
}

async function startPrimary(lab: Lab, place: Place): Promise<Svc> {
  return startSvc(lab, { env: { ...place.env, ...machine('one'), ROLE: 'primary' }, cores: ALL_CORES })
}

/** `host` is the one that is asked. */
async function startFollower(lab: Lab, place: Place, role: string, host: string): Promise<Server> {
  const port = await freePort()
  const env = { ...place.env, ...machine(role, port), ROLE: role }
  const child: Process = spawnSvc(lab, lab.folder('data'), port, { env })
  return untilReady({ name: role, port, host, process: child })
}

/** The primary of this bench is forwarded to by nobody. */
const machine = (name: string, port = 9) => ({
  NODE_SECRET,
  MACHINE_NAME: name,
  MACHINE_URL: `http://127.0.0.1:${port}`,
})
