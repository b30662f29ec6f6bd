import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { executableName, PLATFORMS } from './release.ts'

type Job = {
  needs?: string
  permissions?: Record<string, string>
  strategy?: { matrix: { include: { runner: string; executable: string }[] } }
  steps: { run?: string; env?: Record<string, string> }[]
}

const file = join(import.meta.dir, '../../.github/workflows/release.yml')
const { jobs }: { jobs: Record<string, Job> } = parse(readFileSync(file, 'utf8'))
const runsOf = (job: Job | undefined) => job?.steps.flatMap(({ run }) => run ?? []) ?? []

test('nothing is published before each executable was tried', () => {
  expect(Object.entries(jobs).map(([name, { needs }]) => [name, needs])).toEqual([
    ['make', undefined],
    ['smoke', 'make'],
    ['publish', 'smoke'],
  ])
  const tried = jobs['smoke']?.strategy?.matrix.include ?? []
  expect(tried.map(({ executable }) => executable)).toEqual(PLATFORMS.map(executableName))
  expect(new Set(tried.map(({ runner }) => runner)).size).toBe(PLATFORMS.length)
  expect(runsOf(jobs['smoke']).at(-1)).toStartWith('node scripts/smoke.mjs release/')
  const publishing = /npm publish|--push|git push|gh release/
  for (const name of ['make', 'smoke']) {
    expect(runsOf(jobs[name]).filter((run) => publishing.test(run))).toEqual([])
    expect(jobs[name]?.permissions).toBeUndefined()
  }
  expect(runsOf(jobs['publish']).filter((run) => publishing.test(run))).toHaveLength(4)
})

test('the key is in the environment of the one step that signs', () => {
  const steps = Object.values(jobs).flatMap(({ steps }) => steps)
  const holders = steps.filter(({ env }) => JSON.stringify(env ?? {}).includes('secrets.SVC_RELEASE_KEY'))
  expect(holders).toHaveLength(1)
  expect(holders[0]?.run).toContain('npm run release')
})

test('each script is one that bash reads', () => {
  for (const run of Object.values(jobs).flatMap(runsOf)) {
    const { exitCode, stderr } = Bun.spawnSync(['bash', '-n'], {
      stdin: Buffer.from(run.replaceAll('${{', '{{')),
    })
    expect([run, exitCode, stderr.toString()]).toEqual([run, 0, ''])
  }
})
