import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { executableName, PLATFORMS, type Platform } from './release.ts'
import { type ExecutableFormat, formatOf } from './testing/executable-format.ts'
import { madeRelease } from './testing/made-release.ts'

/** `npm run test:release` makes all five. contract 19.1 */
const FORMATS: Readonly<Record<Platform, ExecutableFormat>> = {
  'linux-x64': { format: 'ELF', cpu: 'x64', isSigned: false },
  'linux-arm64': { format: 'ELF', cpu: 'arm64', isSigned: false },
  'darwin-x64': { format: 'Mach-O', cpu: 'x64', isSigned: true },
  'darwin-arm64': { format: 'Mach-O', cpu: 'arm64', isSigned: true },
  'windows-x64': { format: 'PE32+', cpu: 'x64', isSigned: false },
}

test.each([...PLATFORMS])('%s is an executable of its platform', (platform) => {
  const file = join(madeRelease(), executableName(platform))
  expect(formatOf(file)).toEqual(FORMATS[platform])
  expect(statSync(file).mode & 0o777).toBe(0o755)
})

test('each has its npm package', () => {
  expect(readdirSync(join(madeRelease(), 'npm'))).toHaveLength(PLATFORMS.length + 1)
})
