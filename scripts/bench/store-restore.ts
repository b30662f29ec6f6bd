import { Database } from 'bun:sqlite'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { noise } from './lib/content.ts'
import { type Lab, run, svcExecutable } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import type { Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { startSvc } from './lib/svc.ts'
import { type Ceph, newPlace, type Place } from './store-ceph.ts'

const DATABASE_BYTES = 200_000_000
const ROW_BYTES = 10_000
const MAX_ROUNDS = 3

/** `svc restore` of a large database against fetching the same objects into a file. Its content does not compress. */
export async function benchRestore(lab: Lab, pace: Pace, ceph: Ceph): Promise<Line> {
  const place = await newPlace(ceph.port)
  await run([svcExecutable, 'store', 'push'], { env: { ...place.env, DATA_DIR: await largeWorkspace(lab) } })
  let copiedBytes = 0
  const restore = () =>
    run([svcExecutable, 'restore', place.env['STORE_URL'] ?? '', '--data-dir', lab.folder('restored')], {
      env: place.env,
    })
  const copy = async () => {
    copiedBytes = await copyDatabase(place, join(lab.folder('copied'), 'db'))
  }
  const results = await interleave([restore, copy], Math.min(pace.rounds, MAX_ROUNDS), async (work) => {
    await run(['sync'])
    const start = performance.now()
    await work()
    return performance.now() - start
  })
  const [restored = [], copied = []] = [results.get(restore), results.get(copy)]
  const bytes = `${(copiedBytes / 1e6).toFixed(0)} MB`
  return {
    name: 'restore of a database of 200 MB',
    measure: 'restore/copy',
    samples: ratios(restored, copied),
    bar: { atMost: 4 },
    detail: `${median(restored).toFixed(0)} ms, copying ${bytes} ${median(copied).toFixed(0)} ms`,
  }
}

/** A workspace with a table of noise. */
async function largeWorkspace(lab: Lab): Promise<string> {
  const svc = await startSvc(lab)
  await svc.process.stop()
  const db = new Database(join(svc.dataDir, 'svc.db'))
  db.run('CREATE TABLE bench_noise (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT')
  const insert = db.prepare('INSERT INTO bench_noise (data) VALUES (?)')
  db.transaction(() => {
    for (let bytes = 0; bytes < DATABASE_BYTES; bytes += ROW_BYTES) insert.run(noise(ROW_BYTES))
  })()
  db.close()
  return svc.dataDir
}

async function copyDatabase({ store }: Place, path: string): Promise<number> {
  const file = openSync(path, 'w')
  let bytes = 0
  for await (const { key } of store.list('db/')) {
    const stream = await store.open(key)
    for await (const piece of stream?.pieces ?? []) bytes += writeSync(file, piece)
  }
  fsyncSync(file)
  closeSync(file)
  return bytes
}
