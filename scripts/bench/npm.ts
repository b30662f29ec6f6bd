import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Lab, svcExecutable } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import type { Line } from './lib/report.ts'
import { interleave, median, ratios } from './lib/stats.ts'

/** One start takes so little that a round is several. */
const STARTS = 5

type Subject = { name: string; commands: string[][] }

/** `svc version` through the npm wrapper, against an empty program of Node and the executable, one after the other. */
export async function benchNpm(lab: Lab, pace: Pace): Promise<Line[]> {
  const wrapped = { name: 'wrapper', commands: [['node', wrapperIn(lab.folder('npm')), 'version']] }
  const apart = {
    name: 'apart',
    commands: [
      ['node', '-e', '0'],
      [svcExecutable, 'version'],
    ],
  }
  for (const subject of [wrapped, apart]) milliseconds(subject)
  const results = await interleave([wrapped, apart], pace.rounds, async (subject) => milliseconds(subject))
  const of = (subject: Subject) => results.get(subject) ?? []
  return [
    {
      name: 'svc version by npm',
      measure: 'wrapper/apart',
      samples: ratios(of(wrapped), of(apart)),
      bar: { atMost: 2, aim: 1.2 },
      detail: `${median(of(wrapped)).toFixed(0)} ms, against ${median(of(apart)).toFixed(0)} ms for node -e 0 and the executable`,
    },
  ]
}

/** As npm lays it out: the wrapper, and beside it the package of this platform. */
function wrapperIn(folder: string): string {
  const modules = join(folder, 'node_modules')
  const platform = `${process.platform}-${process.arch}`
  cpSync(join(import.meta.dir, '../../packages/npm'), join(modules, 'svc'), { recursive: true })
  const manifest = { name: 'svc', version: '0.0.0', optionalDependencies: { [`@svc/${platform}`]: '0.0.0' } }
  writeFileSync(join(modules, 'svc/package.json'), JSON.stringify(manifest))
  const bin = join(modules, '@svc', platform, 'bin')
  mkdirSync(bin, { recursive: true })
  symlinkSync(svcExecutable, join(bin, 'svc'))
  return join(modules, 'svc/bin/svc.cjs')
}

function milliseconds({ name, commands }: Subject): number {
  const start = performance.now()
  for (let times = 0; times < STARTS; times++)
    for (const command of commands) {
      const { exitCode, stderr } = Bun.spawnSync(command, {
        stdout: 'ignore',
        stderr: 'pipe',
        stdin: 'ignore',
      })
      if (exitCode !== 0) throw new Error(`${name} ended with ${exitCode}: ${stderr}`)
    }
  return (performance.now() - start) / STARTS
}
