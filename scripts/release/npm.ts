import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TarSource } from '../../src/platform/archive/tar-write.ts'
import { fileSource, textSource, writeTarGz } from './archive.ts'
import { fill } from './fill.ts'
import { executableName, PLATFORMS, type Platform, type Release } from './release.ts'

/** `npm/*.tgz`: what people install, and a package with the executable of each platform. contract 19.2 */
export async function makeNpm(release: Release): Promise<void> {
  mkdirSync(join(release.out, 'npm'))
  await pack(release, wrapperManifest(release), wrapperFiles(release))
  for (const platform of release.platforms)
    await pack(release, platformManifest(release, platform), platformFiles(release, platform))
}

export const platformPackage = ({ config }: Release, platform: Platform): string =>
  `${config.npm.scope}/${platform}`

type Manifest = { name: string; version: string } & Readonly<Record<string, unknown>>

const RUN = { mode: 0o755 }

/** All five, whatever is made: npm leaves out what does not fit this machine, and what its registry does not have. */
const wrapperManifest = (release: Release): Manifest => ({
  ...commonManifest(release, release.config.npm.package),
  bin: { svc: 'bin/svc.cjs' },
  engines: { node: '>=20' },
  optionalDependencies: Object.fromEntries(
    PLATFORMS.map((platform) => [platformPackage(release, platform), release.version]),
  ),
})

function wrapperFiles(release: Release): TarSource[] {
  const source = (path: string) => readFileSync(join(release.root, 'packages/npm', path), 'utf8')
  return [
    textSource('bin/svc.cjs', source('bin/svc.cjs'), RUN),
    textSource('README.md', fill(source('README.md'), release)),
  ]
}

function platformManifest(release: Release, platform: Platform): Manifest {
  const [system, cpu] = platform.split('-')
  return {
    ...commonManifest(release, platformPackage(release, platform)),
    os: [system === 'windows' ? 'win32' : system],
    cpu: [cpu],
    ...(system === 'linux' ? { libc: ['glibc'] } : {}),
    // Yarn would keep it in an archive, from which nothing can be run.
    preferUnplugged: true,
  }
}

function platformFiles(release: Release, platform: Platform): TarSource[] {
  const executable = executableName(platform)
  const name = executable.endsWith('.exe') ? 'svc.exe' : 'svc'
  const readme = readFileSync(join(release.root, 'packages/npm/README.platform.md'), 'utf8')
  return [
    fileSource(`bin/${name}`, join(release.out, executable), RUN),
    // Who installed it with npm updates it with npm.
    textSource('bin/managed', 'npm\n'),
    textSource('README.md', fill(readme, release, { platform })),
  ]
}

function commonManifest({ root, version }: Release, name: string): Manifest {
  const { description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return { name, version, description, license }
}

/** As `npm pack` names and lays out its archives. */
async function pack({ root, out }: Release, manifest: Manifest, files: readonly TarSource[]): Promise<void> {
  const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
  const all = [
    textSource('package.json', `${JSON.stringify(manifest, null, 2)}\n`),
    ...files,
    fileSource('LICENSE', join(root, 'LICENSE')),
  ]
  await writeTarGz(
    join(out, 'npm', file),
    all.map((source) => ({ ...source, name: `package/${source.name}` })),
  )
}
