import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeExecutables } from './executables.ts'
import { executableName } from './release.ts'
import { OTHER_NAMES, sampleRelease } from './testing/sample-release.ts'

test('an executable under other names has none of before in its documents, and works', async () => {
  const release = sampleRelease({ platforms: ['linux-x64'] })
  await makeExecutables(release)
  const executable = join(release.out, executableName('linux-x64'))
  const bytes = readFileSync(executable)
  for (const name of ['npx svc deploy', 'svc/upload@', 'svc/deploy-proxy-rules', 'ghcr.io/svc'])
    expect([name, bytes.includes(name)]).toEqual([name, false])
  expect(bytes.includes(`uses: ${OTHER_NAMES.actions.rules}@v1`)).toBe(true)
  const { stdout } = Bun.spawnSync([executable, 'docs', 'rules'])
  expect(stdout.toString()).toContain(`uses: ${OTHER_NAMES.actions.rules}@v1`)
  release.remove()
})
