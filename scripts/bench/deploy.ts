import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noise, writeTree } from './lib/content.ts'
import { startCountingProxy, type Traffic } from './lib/counting-proxy.ts'
import { ALL_CORES, type Lab, run, svcExecutable } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import { peakMegabytes, resetPeak, untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { median, ratios } from './lib/stats.ts'
import { deploy, PROJECT, type Svc, startSvc } from './lib/svc.ts'

const FILES = 5000
const FILE_BYTES = 10_240
/** One content in a tar with its header and the padding that some writers add; two contents would not fit. */
const ONE_CONTENT_BYTES = 20_480
const MAX_ROUNDS = 3
/** The compressed forms of 5000 files take half a minute of a core; none of it may fall into a measurement. */
const VARIANTS_MS = 180_000

type Times = { untar: number[]; first: number[]; again: number[] }

/**
 * `svc deploy` against `tar x` and `sync`: both on all cores, contents new in every round, the disk quiet before each. They
 * take turns in going first, as the second of two may find memory that the first had to ask the machine for, or the other
 * way round.
 */
export async function benchDeploy(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSvc(lab, { cores: ALL_CORES })
  const times: Times = { untar: [], first: [], again: [] }
  let site = ''
  for (let round = 0; round < Math.min(pace.rounds, MAX_ROUNDS); round++) {
    site = lab.folder('site')
    writeTree(site, FILES, FILE_BYTES, round + 1)
    const archive = join(lab.folder('archive'), 'site.tar')
    await run(['tar', 'cf', archive, '-C', site, '.'])
    await untilQuiet(svc.process.pid, VARIANTS_MS)
    await readAll(site, archive)
    const untar = async () => times.untar.push(await timeUntar(lab, archive))
    const first = async () => times.first.push(await timeDeploy(svc, site))
    for (const step of round % 2 === 0 ? [untar, first] : [first, untar]) await step()
    changeOneFile(site, 'again')
    await untilQuiet(svc.process.pid, VARIANTS_MS)
    await readAll(site, archive)
    times.again.push(await timeDeploy(svc, site))
  }
  const traffic = await countTraffic(svc, site)
  await svc.process.stop()
  const peak = await peakOfLargeFile(lab)
  return [...timeLines(times), ...trafficLines(traffic), peak]
}

function timeLines({ untar, first, again }: Times): Line[] {
  const detail = `${median(first).toFixed(0)} ms, tar x and sync ${median(untar).toFixed(0)} ms`
  const againDetail = `${median(again).toFixed(0)} ms`
  return [
    {
      name: `${FILES} files of 10 KB`,
      measure: 'deploy/tar',
      samples: ratios(first, untar),
      bar: { atMost: 2 },
      detail,
    },
    {
      name: 'again, one file changed',
      measure: 'again/first',
      samples: ratios(again, first),
      bar: { atMost: 0.5 },
      detail: againDetail,
    },
  ]
}

function trafficLines({ bytes, requests }: Traffic): Line[] {
  const contents = requests.filter(({ method }) => method === 'PUT').map(({ bodyBytes }) => bodyBytes)
  const detail = requests
    .map(({ method, path, bodyBytes }) => `${method} ${shortened(path)} ${bodyBytes} B`)
    .join(', ')
  return [
    { name: 'again', measure: 'requests', samples: [requests.length], bar: { atMost: 2 }, detail },
    {
      name: 'again, contents sent',
      measure: 'bytes',
      samples: [contents.reduce((sum, size) => sum + size, 0)],
      bar: { atMost: ONE_CONTENT_BYTES },
      detail: `${bytes} B from the client in all`,
    },
  ]
}

const shortened = (path: string) => path.replace(/[0-9a-f-]{36}/, ':id')

async function timeUntar(lab: Lab, archive: string): Promise<number> {
  const target = lab.folder('untar')
  await run(['sync'])
  return timed(() => run(['sh', '-c', `tar xf ${archive} -C ${target} && sync`]))
}

async function timeDeploy(svc: Svc, site: string): Promise<number> {
  await run(['sync'])
  return timed(() => deploy(svc, site))
}

/**
 * What was just built, and the tool that has been used before, are in memory. A machine may have dropped them while the
 * server made compressed forms.
 */
async function readAll(site: string, archive: string): Promise<void> {
  await run([svcExecutable, 'deploy', site, '--project', PROJECT, '--dry-run'])
  await run(['sh', '-c', `cat ${archive} > /dev/null`])
}

async function countTraffic(svc: Svc, site: string): Promise<Traffic> {
  changeOneFile(site, 'counted')
  const proxy = await startCountingProxy(svc.port)
  await deploy(svc, site, { url: proxy.url })
  proxy.close()
  return proxy.traffic
}

/** Peak resident memory of a server that does nothing else while 1 GiB arrives in one file. */
async function peakOfLargeFile(lab: Lab): Promise<Line> {
  const svc = await startSvc(lab, { cores: ALL_CORES })
  const site = lab.folder('large')
  const chunk = noise(2 ** 24)
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>Large</title>')
  for (let written = 0; written < 2 ** 30; written += chunk.length)
    appendFileSync(join(site, 'large.bin'), chunk)
  await untilQuiet(svc.process.pid, VARIANTS_MS)
  resetPeak(svc.process.pid)
  const ms = await timed(() => deploy(svc, site, { project: 'acme/large' }))
  const samples = [peakMegabytes(svc.process.pid)]
  await svc.process.stop()
  const detail = `${(ms / 1000).toFixed(1)} s`
  return { name: '1 GiB in one file', measure: 'peak MB', samples, bar: { atMost: 150 }, detail }
}

function changeOneFile(site: string, text: string): void {
  mkdirSync(join(site, 'part-0'), { recursive: true })
  writeFileSync(join(site, 'part-0', 'page-0.html'), text.padEnd(FILE_BYTES, site))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
