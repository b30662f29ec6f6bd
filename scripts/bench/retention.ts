import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDb } from '../../src/db/open.ts'
import { call, cookieOf } from './lib/accounts.ts'
import type { Lab } from './lib/lab.ts'
import { ask } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { peakMegabytes, resetPeak, untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { api, PROJECT, publish, type Svc, startSvc } from './lib/svc.ts'

const DEPLOYMENTS = 10_000
const FILES = 20
/** Of each deployment's files these are of no other. */
const OWN_FILES = 5
/** In 10^6 bytes: 64 MiB. */
const MOST_MEGABYTES = 67.1
const MOST_MS = 250
const GRACE = { RETENTION_GRACE_MINUTES: '0' }

/** What others notice of a run over many deployments: how long requests wait meanwhile, and the memory it takes. */
export async function benchRetention(lab: Lab, _pace: Pace): Promise<Line[]> {
  const first = await startSvc(lab, { env: GRACE })
  await publish(first, writeSite(lab), 'a'.repeat(40))
  await untilQuiet(first.process.pid)
  await first.process.stop()
  addDeployments(first.dataDir)
  const svc = await startSvc(lab, { dataDir: first.dataDir, env: GRACE })
  const cookie = await cookieOf(svc)
  for (let i = 0; i < 50; i++) await askOnce(svc)
  await untilQuiet(svc.process.pid)
  resetPeak(svc.process.pid)
  const before = peakMegabytes(svc.process.pid)
  const { waits, seconds, removed } = await runWhileAsking(svc, cookie)
  const grown = peakMegabytes(svc.process.pid) - before
  await svc.process.stop()
  const detail = `${removed} deployments of ${FILES} files in ${seconds.toFixed(1)} s, ${waits.length} requests meanwhile`
  return [
    { name: 'others wait', measure: 'ms (p99)', samples: [p99(waits)], bar: { atMost: MOST_MS }, detail },
    { name: 'memory', measure: 'MB more', samples: [grown], bar: { atMost: MOST_MEGABYTES } },
  ]
}

async function runWhileAsking(svc: Svc, cookie: string) {
  const headers = { cookie, origin: svc.url }
  const { id } = (await api(svc, 'GET', `/api/projects/${PROJECT}`)) as { id: string }
  const path = `/api/projects/${id}/retention`
  await call(svc, 'PUT', path, { keepLast: 1 }, headers)
  let isDone = false
  const start = performance.now()
  const running = call(svc, 'POST', `${path}/run`, { dryRun: false }, headers).finally(() => {
    isDone = true
  })
  const waits: number[] = []
  while (!isDone) {
    const asked = performance.now()
    await askOnce(svc)
    waits.push(performance.now() - asked)
    await Bun.sleep(2)
  }
  const { removedCount } = (await (await running).json()) as { removedCount: number }
  if (removedCount !== DEPLOYMENTS) throw new Error(`${removedCount} deployments were removed`)
  return { waits, seconds: (performance.now() - start) / 1000, removed: removedCount }
}

/** A file, and a list of the API. */
const askOnce = (svc: Svc) => Promise.all([ask(svc, '/'), api(svc, 'GET', '/api/aliases')])

const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0

function writeSite(lab: Lab): string {
  const folder = lab.folder('site')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Live</title>')
  for (let i = 1; i < FILES; i++) writeFileSync(join(folder, `${i}.txt`), `file ${i} `.repeat(300))
  return folder
}

/** Older copies of the live deployment, each with a few contents of its own. No server may run. */
function addDeployments(dataDir: string): void {
  const { sqlite } = openDb(join(dataDir, 'svc.db'), Date.now())
  sqlite
    .transaction(() => {
      for (const sql of COPIES) sqlite.run(sql)
    })
    .immediate()
  sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
  sqlite.close()
}

const NUMBERS = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${DEPLOYMENTS})`
const LIVE = `(SELECT * FROM deployments WHERE commit_sha = '${'a'.repeat(40)}')`
const ID = "printf('01900000-0001-7000-8000-%012x', n)"
const OWN = `printf('%052x%012x', n, place)`

const COPIES = [
  `${NUMBERS} INSERT INTO deployments (id, project_id, commit_sha, file_count, total_size, created_by, created_at, updated_at)
   SELECT ${ID}, live.project_id, printf('%040x', n), live.file_count, live.total_size, live.created_by,
     live.created_at - 10000000 + n, live.created_at - 10000000 + n FROM numbers, ${LIVE} AS live`,
  `${NUMBERS} INSERT INTO blobs (sha256, size_bytes, pack, offset)
   SELECT ${OWN}, 2000, 'bench', n FROM numbers, (SELECT value AS place FROM json_each('[${Array.from({ length: OWN_FILES }, (_, i) => i)}]'))`,
  `${NUMBERS} INSERT INTO assets (id, deployment_id, path, blob_id, size_bytes)
   SELECT printf('01900000-%04x-7000-8000-%012x', place + 2, n), ${ID}, path,
     iif(place < ${OWN_FILES}, (SELECT id FROM blobs WHERE sha256 = ${OWN}), blob_id), size_bytes
   FROM numbers, (SELECT a.path, a.blob_id, a.size_bytes, row_number() OVER () - 1 AS place FROM assets a
                  WHERE deployment_id = (SELECT id FROM ${LIVE}))`,
]
