import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CPUS, linuxPlatforms } from './debian.ts'
import { fill } from './fill.ts'
import { executableName, type Release } from './release.ts'

/** `container/`: a Dockerfile and the executables that it copies, by the names that Docker has for processors. contract 19.2 */
export async function makeContainer(release: Release): Promise<void> {
  const platforms = linuxPlatforms(release)
  if (platforms.length === 0) return
  const folder = join(release.out, 'container')
  for (const platform of platforms) {
    const executable = join(folder, 'linux', CPUS[platform], 'svc')
    mkdirSync(dirname(executable), { recursive: true })
    copyFileSync(join(release.out, executableName(platform)), executable)
  }
  const dockerfile = readFileSync(join(release.root, 'packages/container/Dockerfile'), 'utf8')
  writeFileSync(join(folder, 'Dockerfile'), fill(dockerfile, release))
}
