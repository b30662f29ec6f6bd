import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cookieOf } from './lib/accounts.ts'
import { words } from './lib/content.ts'
import type { Lab } from './lib/lab.ts'
import { ask, type LoadResult, load } from './lib/load.ts'
import type { Pace } from './lib/pace.ts'
import { untilQuiet } from './lib/proc.ts'
import type { Bar, Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { api, PROJECT, publish, type Svc, startSvc } from './lib/svc.ts'

const BYTES = 1024
const FILE = 'part.js'
const PAGE = 'part.html'

/** What is asked, at which host of which server. */
type Asked = { svc: Svc; host: string; path(): Promise<string> }

/** Files by a picture's address against the path form, and by an alias' host against the build before pictures. */
export async function benchPictures(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSite(lab)
  const lines: Line[] = []
  for (const [name, file, bar] of CASES) lines.push(await comparePicture(svc, name, file, bar, pace))
  const baseline = process.env['SVC_BASELINE']
  if (baseline === undefined)
    console.warn('pictures: SVC_BASELINE names the executable to compare with; left out')
  else {
    const before = await startSite(lab, [baseline])
    lines.push(await compareHost(svc, before, pace))
    await before.process.stop()
  }
  await svc.process.stop()
  return lines
}

/** A page is led below the address of the picture, which other files need not. */
const CASES: readonly [name: string, file: string, bar: Bar | undefined][] = [
  ['1 KB file of a picture', FILE, { atLeast: 0.6, aim: 1 }],
  ['1 KB page of a picture, led', PAGE, undefined],
]

async function startSite(lab: Lab, command?: readonly string[]): Promise<Svc> {
  const svc = await startSvc(lab, command === undefined ? {} : { command })
  const site = lab.folder('site')
  const text = words(BYTES, 1)
  writeFileSync(join(site, 'index.html'), '<!doctype html><title>Site</title>')
  writeFileSync(join(site, FILE), `//${text}`.slice(0, BYTES))
  writeFileSync(join(site, PAGE), `<link rel=stylesheet href=/a.css><p>${text}`.slice(0, BYTES))
  await publish(svc, site, '91c7e91c7e91c7e91c7e91c7e91c7e91c7e91c7e')
  await untilQuiet(svc.process.pid)
  return svc
}

async function comparePicture(
  svc: Svc,
  name: string,
  file: string,
  bar: Bar | undefined,
  pace: Pace,
): Promise<Line> {
  const host = `localhost:${svc.port}`
  const picture: Asked = { svc, host, path: async () => (await pictureAddress(svc)) + file }
  const form: Asked = { svc, host, path: async () => `/public/${PROJECT}/production/${file}` }
  return line(name, 'path form/picture', await measure(picture, form, pace), bar)
}

/** Made anew each time, as it ends after some minutes. */
async function pictureAddress(svc: Svc): Promise<string> {
  const { id } = (await api(svc, 'GET', `/api/projects/${PROJECT}`)) as { id: string }
  const headers = { host: `localhost:${svc.port}`, cookie: await cookieOf(svc) }
  const text = await (await fetch(`${svc.url}/projects/${id}`, { headers })).text()
  const [address] = /\/_svc\/picture\/[^/"]+\//.exec(text) ?? []
  if (address === undefined) throw new Error('the page of the project shows no picture')
  return address
}

async function compareHost(svc: Svc, before: Svc, pace: Pace): Promise<Line> {
  const at = (each: Svc): Asked => ({ svc: each, host: each.host, path: async () => `/${FILE}` })
  const samples = await measure(at(svc), at(before), pace)
  return line('1 KB by alias host', 'before/now', samples, { atLeast: 0.9, aim: 1 })
}

type Samples = { ours: number[]; others: number[] }

async function measure(own: Asked, other: Asked, pace: Pace): Promise<Samples> {
  const loaded = async ({ svc, host, path }: Asked) => {
    const asked = await path()
    const { status, body } = await ask({ port: svc.port, host }, asked)
    if (status !== 200 || body.length < BYTES) throw new Error(`${asked} answers ${status}`)
    return load({ port: svc.port, pid: svc.process.pid, host, path: asked, seconds: pace.seconds })
  }
  for (const each of [own, other]) await loaded(each)
  const results = await interleave([own, other], pace.rounds, loaded)
  return { ours: cpu(results.get(own)), others: cpu(results.get(other)) }
}

const cpu = (samples: readonly LoadResult[] = []) => samples.map(({ cpuMicros }) => cpuMicros)

const line = (name: string, measured: string, { ours, others }: Samples, bar: Bar | undefined): Line => ({
  name,
  measure: measured,
  samples: ratios(others, ours),
  ...(bar === undefined ? {} : { bar }),
  detail: `${median(ours).toFixed(1)} us of CPU a request, against ${median(others).toFixed(1)} us`,
})
