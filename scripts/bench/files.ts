import { appendFileSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { commitOf, noise } from './lib/content.ts'
import { ALL_CORES, type Lab, run } from './lib/lab.ts'
import { type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { peakMegabytes, pssMegabytes, resetPeak, untilQuiet } from './lib/proc.ts'
import type { Line } from './lib/report.ts'
import { postSite, pushPipelines } from './lib/site-pipelines.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { PROJECT, publish, type Svc, startSvc } from './lib/svc.ts'

const LARGE_MB = 200
const AT_ONCE = 4
const SMALL = { name: '100k.bin', bytes: 100_000, connections: 64 }
const MIDDLE = { name: '10m.bin', bytes: 10_000_000, connections: 8 }
const MAX_BYTES = 300_000_000
const VARIANTS_MS = 180_000

const SCHEMA = {
  name: 'files',
  fields: ['filename', 'storage_path', 'content_type', 'url'].map((name) => ({ name, type: 'string' })),
}
const STEPS = {
  '/api/sign': {
    handlerType: 'presigned_upload',
    config: { subDir: 'bench', keyStrategy: 'verbatim', maxFileSize: MAX_BYTES },
  },
  '/api/form': {
    handlerType: 'file_upload_handler',
    config: { schemaId: '$schema:files', subDir: 'bench', maxFileSize: MAX_BYTES },
  },
  '/api/link': { handlerType: 'signed_url', config: { path: '/api/uploads/bench/{{input.name}}' } },
  '/api/uploads/bench/*': {
    handlerType: 'file_serve_handler',
    config: { subDir: 'bench', cacheability: 'public' },
  },
}

/** Files of a project: how they come in, against an upload of a deployment, and go out, against files of a site. */
export async function benchFiles(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSvc(lab, { cores: ALL_CORES })
  await pushPipelines(lab, svc, STEPS, [SCHEMA])
  const large = writeLarge(lab)
  const lines = [
    ...(await benchUploads(svc, large, pace)),
    await memoryOf('PUT', svc, () => put(svc, large, crypto.randomUUID())),
    await memoryOf('multipart', svc, () => sendForm(svc, large)),
    await memoryOf('serving', svc, () => fetchAway(svc, '/api/uploads/bench/large')),
    ...(await benchServing(lab, svc, pace)),
  ]
  await svc.process.stop()
  return lines
}

function writeLarge(lab: Lab): string {
  const file = join(lab.folder('large'), 'large.bin')
  const chunk = noise(1_000_000)
  for (let written = 0; written < LARGE_MB; written++) appendFileSync(file, chunk)
  return file
}

let stamp = 0

/** Contents that are nowhere yet. */
function renew(file: string): void {
  stamp += 1
  const opened = openSync(file, 'r+')
  writeSync(opened, `${stamp} `.padStart(16), 0)
  closeSync(opened)
}

async function benchUploads(svc: Svc, large: string, pace: Pace): Promise<Line[]> {
  await put(svc, large, 'large')
  const timed = (send: () => Promise<void>) => async () => {
    renew(large)
    await untilQuiet(svc.process.pid, VARIANTS_MS)
    await run(['sync'])
    const start = performance.now()
    await send()
    return performance.now() - start
  }
  const asset = timed(() => sendAsset(svc, large))
  const byPut = timed(() => put(svc, large, crypto.randomUUID()))
  const byForm = timed(() => sendForm(svc, large))
  const results = await interleave([byPut, asset, byForm], pace.rounds, (send) => send())
  const theirs = results.get(asset) ?? []
  const line = (name: string, ours: readonly number[] = []): Line => ({
    name: `${LARGE_MB} MB by ${name}`,
    measure: 'file/asset upload',
    samples: ratios(ours, theirs),
    bar: { atMost: 1.5, aim: 1.1 },
    detail: `${median(ours).toFixed(0)} ms, as an asset ${median(theirs).toFixed(0)} ms`,
  })
  return [line('PUT', results.get(byPut)), line('multipart', results.get(byForm))]
}

const curl = (args: readonly string[]) =>
  run(['curl', '--silent', '--show-error', '--fail', '--output', '/dev/null', ...args])

const curlSite = (svc: Svc, args: readonly string[]) => curl(['-H', `Host: ${svc.host}`, ...args])

async function put(svc: Svc, file: string, path: string): Promise<void> {
  const { data } = (await postSite(svc, '/api/sign', { path })) as { data: { uploadUrl: string } }
  await curlSite(svc, ['--upload-file', file, `${svc.url}${data.uploadUrl}`])
}

const sendForm = async (svc: Svc, file: string): Promise<void> => {
  await curlSite(svc, ['-F', `file=@${file}`, `${svc.url}/api/form`])
}

const fetchAway = async (svc: Svc, path: string): Promise<void> => {
  await curlSite(svc, [`${svc.url}${path}`])
}

async function sendAsset(svc: Svc, file: string): Promise<void> {
  const fields = { repository: PROJECT, commitSha: commitOf(stamp + 1000), alias: 'large' }
  const form = Object.entries(fields).flatMap(([name, value]) => ['-F', `${name}=${value}`])
  const key = ['-H', `X-API-Key: ${svc.key}`]
  const url = `${svc.url}/api/assets/upload`
  await curl([...key, ...form, '-F', `file=@${file}`, url])
}

/** How much larger the server gets while several are on their way. */
async function memoryOf(name: string, svc: Svc, one: () => Promise<void>): Promise<Line> {
  await untilQuiet(svc.process.pid, VARIANTS_MS)
  const before = pssMegabytes(svc.process.pid)
  resetPeak(svc.process.pid)
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  const growth = peakMegabytes(svc.process.pid) - before
  return {
    name: `${AT_ONCE} of ${LARGE_MB} MB at once, ${name}`,
    measure: 'MB more',
    samples: [growth],
    bar: { atMost: 67, aim: 34 },
    detail: `${before.toFixed(0)} MB before`,
  }
}

type Subject = { name: string; path: string; connections: number }

async function benchServing(lab: Lab, svc: Svc, pace: Pace): Promise<Line[]> {
  const site = lab.folder('site')
  for (const { name, bytes } of [SMALL, MIDDLE]) {
    writeFileSync(join(site, name), noise(bytes))
    await put(svc, join(site, name), name)
  }
  await publish(svc, site, commitOf(2))
  await untilQuiet(svc.process.pid, VARIANTS_MS)
  const linkTo = async (name: string) => {
    const { data } = (await postSite(svc, '/api/link', { name })) as { data: { url: string } }
    const { pathname, search } = new URL(data.url)
    return pathname + search
  }
  const [small, middle] = [await compare(svc, SMALL, linkTo, pace), await compare(svc, MIDDLE, linkTo, pace)]
  return [
    small.line('by the rule', 'rule', { atLeast: 0.3, aim: 0.7 }),
    small.line('by a link', 'link', { atLeast: 0.5, aim: 0.9 }),
    middle.line('by the rule', 'rule', { atLeast: 0.8 }),
  ]
}

async function compare(
  svc: Svc,
  { name, connections }: typeof SMALL,
  linkTo: (name: string) => Promise<string>,
  pace: Pace,
) {
  const subjects = {
    site: { name: 'site', path: `/${name}`, connections },
    rule: { name: 'rule', path: `/api/uploads/bench/${name}`, connections },
    link: { name: 'link', path: await linkTo(name), connections },
  }
  const all = Object.values(subjects)
  const once = ({ path, connections: many }: Subject): Promise<LoadResult> =>
    load({
      port: svc.port,
      host: svc.host,
      pid: svc.process.pid,
      path,
      connections: many,
      seconds: pace.seconds,
    })
  for (const subject of all) await once(subject)
  const results = await interleave<Subject, LoadResult>(all, pace.rounds, once)
  const rates = (of: keyof typeof subjects) =>
    (results.get(subjects[of]) ?? []).map(({ requestsPerSecond }) => requestsPerSecond)
  return {
    line: (how: string, of: 'rule' | 'link', bar: Line['bar'] & object): Line => ({
      name: `${name} ${how}, ${connections} connections`,
      measure: 'file/site file',
      samples: ratios(rates(of), rates('site')),
      bar,
      detail: all
        .map(({ name: each }) => `${each} ${median(rates(each as keyof typeof subjects)).toFixed(0)}/s`)
        .join(', '),
    }),
  }
}
