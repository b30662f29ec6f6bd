import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeContainer } from './container.ts'
import { OTHER_NAMES, type SampleRelease, sampleRelease } from './testing/sample-release.ts'
import { filesBelow } from './tree.ts'

/** contract 19.2 */
let release: SampleRelease
let steps: string[]
beforeAll(async () => {
  release = sampleRelease()
  await makeContainer(release)
  const text = readFileSync(join(release.out, 'container/Dockerfile'), 'utf8')
  expect(text).toContain(`--tag ${OTHER_NAMES.image}:1.2.3`)
  steps = text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
})
afterAll(() => release.remove())

const argumentsOf = (instruction: string) =>
  steps.filter((step) => step.startsWith(`${instruction} `)).map((step) => step.slice(instruction.length + 1))

test('every path that it copies is there for both processors, and may be run', () => {
  for (const cpu of ['amd64', 'arm64']) {
    const copied = argumentsOf('COPY').map(
      (step) => step.replace('$', '').replace('{TARGETARCH}', cpu).split(' ')[0],
    )
    expect(copied).toEqual([`linux/${cpu}/svc`])
    expect(statSync(join(release.out, 'container', copied[0] ?? '')).mode & 0o777).toBe(0o755)
  }
  expect(filesBelow(join(release.out, 'container'))).toEqual([
    'Dockerfile',
    'linux/amd64/svc',
    'linux/arm64/svc',
  ])
})

test('user 65532, /data, a health check, and no step that fetches', () => {
  expect(argumentsOf('USER')).toEqual(['65532:65532'])
  expect(argumentsOf('VOLUME')).toEqual(['/data'])
  expect(argumentsOf('ENV').join(' ')).toContain('SVC_MANAGED=docker')
  expect(argumentsOf('HEALTHCHECK').join(' ')).toEndWith('CMD ["svc", "health"]')
  expect(argumentsOf('RUN').join(' ')).not.toMatch(/apt|curl|wget|npm|https?:/)
  expect(argumentsOf('ADD')).toEqual([])
})

test('with one of them left out its executable is missing; without Linux there is no folder', async () => {
  const arm = sampleRelease({ platforms: ['linux-arm64', 'darwin-arm64'] })
  await makeContainer(arm)
  expect(filesBelow(join(arm.out, 'container'))).toEqual(['Dockerfile', 'linux/arm64/svc'])
  arm.remove()
  const mac = sampleRelease({ platforms: ['darwin-arm64'] })
  await makeContainer(mac)
  expect(existsSync(join(mac.out, 'container'))).toBe(false)
  mac.remove()
})
