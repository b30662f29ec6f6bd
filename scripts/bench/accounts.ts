import { addMembersOnly, keepSigningIn, type SignIns } from './lib/accounts.ts'
import { ALL_CORES, type Lab, SERVER_CORE } from './lib/lab.ts'
import { ask, type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { publish, type Svc, startSvc } from './lib/svc.ts'
import { writeSite } from './static.ts'

const PATHS = { '1 KB': '/1k.html', '10 KB': '/10k.html' } as const
const IN_FLIGHT = 64

/** How the server is placed: beside the load on a core of its own, or free to use the load's as well. */
const PLACES = { 'one core': SERVER_CORE, 'both cores': ALL_CORES } as const

/** What accounts cost those who only read: the session check of private files, and the sign-ins of others. */
export async function benchAccounts(lab: Lab, pace: Pace): Promise<Line[]> {
  const site = writeSite(lab)
  const checks = await withSite(lab, site, SERVER_CORE, (svc) => benchSessionCheck(svc, pace))
  const lines = [...checks]
  for (const [place, cores] of Object.entries(PLACES))
    lines.push(...(await withSite(lab, site, cores, (svc) => benchSignIns(svc, place, pace))))
  return lines
}

async function withSite(
  lab: Lab,
  site: string,
  cores: string,
  bench: (svc: Svc) => Promise<Line[]>,
): Promise<Line[]> {
  const svc = await startSvc(lab, { cores, env: { FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' } })
  await publish(svc, site, 'acc0acc0acc0acc0acc0acc0acc0acc0acc0acc0')
  await untilQuiet(svc.process.pid)
  const lines = await bench(svc)
  await svc.process.stop()
  return lines
}

/**
 * The same file by the same server: as anybody may see it, and as a guest with the gate on. Both requests carry the
 * cookies, so that what differs is the check and not the bytes; the third is the public one without any.
 */
async function benchSessionCheck(svc: Svc, pace: Pace): Promise<Line[]> {
  const { host, cookie } = await addMembersOnly(svc)
  if ((await ask({ ...svc, host }, PATHS['1 KB'])).status !== 404) throw new Error('the site is not private')
  const subjects = [
    { name: 'private', host, headers: { cookie } },
    { name: 'public', host: svc.host, headers: { cookie } },
    { name: 'bare', host: svc.host, headers: {} },
  ] as const
  const lines: Line[] = []
  for (const [size, path] of Object.entries(PATHS)) {
    const measure = (subject: (typeof subjects)[number]) =>
      load({ ...svc, ...subject, pid: svc.process.pid, path, seconds: pace.seconds })
    for (const subject of subjects) await measure(subject)
    const results = [...(await interleave(subjects, pace.rounds, measure)).values()]
    const [asMember = [], asAnybody = [], bare = []] = results
    lines.push(
      {
        name: `session check, ${size}`,
        measure: 'private/public',
        samples: ratios(rates(asMember), rates(asAnybody)),
        bar: { atLeast: 0.9 },
        detail: `${rate(asMember)} against ${rate(asAnybody)}, ${rate(bare)} without cookies`,
      },
      {
        name: '',
        measure: 'us of CPU more',
        samples: asMember.map(
          ({ cpuMicros }, round) => cpuMicros - (asAnybody[round]?.cpuMicros ?? Number.NaN),
        ),
        bar: { atMost: 10, aim: 1 },
        detail: `${cpu(asMember)} against ${cpu(asAnybody)}, ${cpu(bare)} without cookies`,
      },
    )
  }
  return lines
}

/** Public files alone and beside sign-ins that are always in flight, each with the right password and its commit. */
async function benchSignIns(svc: Svc, place: string, pace: Pace): Promise<Line[]> {
  await addMembersOnly(svc)
  const signIns: SignIns[] = []
  const measure = async (isBusy: boolean): Promise<LoadResult> => {
    const crowd = isBusy ? keepSigningIn(svc, IN_FLIGHT) : undefined
    const result = await load({ ...svc, pid: svc.process.pid, path: PATHS['10 KB'], seconds: pace.seconds })
    if (crowd !== undefined) signIns.push(await crowd.stop())
    return result
  }
  await measure(false)
  const results = await interleave([false, true], pace.rounds, measure)
  const [quiet = [], busy = []] = results.values()
  return [
    {
      name: `${IN_FLIGHT} sign-ins, ${place}`,
      measure: 'throughput kept',
      samples: ratios(rates(busy), rates(quiet)),
      bar: { atLeast: 0.6, aim: 0.75 },
      detail: `${rate(busy)} against ${rate(quiet)}`,
    },
    {
      name: '',
      measure: 'p99 ms',
      samples: busy.map(({ p99Ms }) => p99Ms),
      bar: { atMost: 50, aim: 10 },
      detail: `${median(quiet.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms alone; ${described(signIns)}`,
    },
  ]
}

function described(signIns: readonly SignIns[]): string {
  const middle = (pick: (one: SignIns) => number) => median(signIns.map(pick))
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  return `a sign-in took ${seconds(middle((one) => one.medianMs))}, at most ${seconds(
    Math.max(...signIns.map((one) => one.longestMs)),
  )}, ${middle((one) => one.refused)} refused a round`
}

const rates = (results: readonly LoadResult[]) => results.map((result) => result.requestsPerSecond)
const rate = (results: readonly LoadResult[]) => `${(median(rates(results)) / 1000).toFixed(1)}k/s`
const cpu = (results: readonly LoadResult[]) =>
  `${median(results.map(({ cpuMicros }) => cpuMicros)).toFixed(1)} us`
