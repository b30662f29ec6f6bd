import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf, words, writeTree } from './lib/content.ts'
import { addHooks, HOOK_ENV, startHangingReceivers } from './lib/hanging-hooks.ts'
import type { Lab } from './lib/lab.ts'
import { type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { packed, publishArchive, type Svc, startSvc } from './lib/svc.ts'

const HOOKS = 50
const PENDING = 1000
/** A publish that moves the alias is two events: that it is there, and that it is shown. */
const EVENTS = 2
const FILES = 100
const FILE_BYTES = 1024
/** Publishes in each sample, with time between them for the compressed forms of the one before. */
const PUBLISHES = 15
const PAUSE_MS = 50

/** What others notice of receivers that hang: who publishes, and who visits. */
export async function benchWebhooks(lab: Lab, pace: Pace): Promise<Line[]> {
  const receivers = await startHangingReceivers(HOOKS)
  const [apart, together, quiet] = [await start(lab), await start(lab), await start(lab)]
  const [first = ''] = receivers.urls
  try {
    await addHooks(apart, receivers.urls)
    await addHooks(
      together,
      receivers.urls.map(() => first),
    )
    const publishes = await comparePublishes(lab, { apart, together, quiet }, pace)
    return [...publishes, await compareVisits(lab, apart, quiet, pace)]
  } finally {
    receivers.close()
    for (const svc of [apart, together, quiet]) await svc.process.stop()
  }
}

const start = (lab: Lab): Promise<Svc> => startSvc(lab, { env: HOOK_ENV })

/** `apart`: each hook has a receiver of its own. `together`: they share one. `quiet`: there are none. */
type Servers = { apart: Svc; together: Svc; quiet: Svc }

async function comparePublishes(lab: Lab, { apart, together, quiet }: Servers, pace: Pace): Promise<Line[]> {
  let seed = 0
  const medianMs = async (svc: Svc): Promise<number> => {
    const times: number[] = []
    for (let i = 0; i < PUBLISHES; i++) {
      const archive = await archiveOf(lab, ++seed)
      await Bun.sleep(PAUSE_MS)
      const start = performance.now()
      await publishArchive(svc, archive, commitOf(++seed))
      times.push(performance.now() - start)
    }
    return median(times)
  }
  const servers = [apart, together, quiet]
  for (const svc of servers) await medianMs(svc)
  const results = await interleave(servers, pace.rounds, medianMs)
  const theirs = results.get(quiet) ?? []
  const line = (what: string, ours: readonly number[]): Line => ({
    name: `publish of ${FILES} files of 1 KB, ${HOOKS} hooks that hang, ${what}`,
    measure: 'with/without',
    samples: ratios(ours, theirs),
    bar: { atMost: 1.7, aim: 1.1 },
    detail: `${median(ours).toFixed(1)} ms, without hooks ${median(theirs).toFixed(1)} ms`,
  })
  return [
    line('each of its own receiver', results.get(apart) ?? []),
    line('all of one', results.get(together) ?? []),
  ]
}

async function archiveOf(lab: Lab, seed: number): Promise<Blob> {
  const folder = lab.folder('texts')
  writeTree(folder, FILES, FILE_BYTES, seed)
  return packed(folder)
}

/** Both show the same page; one has what it could not send yet. */
async function compareVisits(lab: Lab, told: Svc, quiet: Svc, pace: Pace): Promise<Line> {
  const folder = lab.folder('site')
  for (let turn = 0; turn < PENDING / HOOKS / EVENTS; turn++) {
    writeFileSync(join(folder, 'page.html'), words(FILE_BYTES, turn + 1))
    const archive = await packed(folder)
    for (const svc of [told, quiet]) await publishArchive(svc, archive, commitOf(-turn - 1))
  }
  for (const svc of [told, quiet]) await untilQuiet(svc.process.pid)
  const asked = (svc: Svc) =>
    load({ ...svc, pid: svc.process.pid, path: '/page.html', seconds: pace.seconds })
  for (const svc of [told, quiet]) await asked(svc)
  const results = await interleave([told, quiet], pace.rounds, asked)
  const [ours, theirs] = [rates(results.get(told)), rates(results.get(quiet))]
  return {
    name: `1 KB beside ${PENDING} deliveries that wait`,
    measure: 'with/without',
    samples: ratios(ours, theirs),
    bar: { atLeast: 0.7, aim: 0.95 },
    detail: `${(median(ours) / 1000).toFixed(1)}k/s, without hooks ${(median(theirs) / 1000).toFixed(1)}k/s`,
  }
}

const rates = (samples: readonly LoadResult[] = []) =>
  samples.map(({ requestsPerSecond }) => requestsPerSecond)
