import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import type { TarSource, TarSpecial } from '../../src/platform/archive/tar-write.ts'
import { writeAr } from './ar.ts'
import { fileSource, textSource, writeTarGz } from './archive.ts'
import { CPUS, debVersionOf, type LinuxPlatform, linuxPlatforms } from './debian.ts'
import { fill } from './fill.ts'
import { executableName, type Release } from './release.ts'
import { sizeOf } from './tree.ts'

/** `<deb>_<version>_<processor>.deb` for both processors of Linux. contract 19.2; Debian Policy */
export async function makeDeb(release: Release): Promise<void> {
  for (const platform of linuxPlatforms(release)) await pack(release, platform)
}

async function pack(release: Release, platform: LinuxPlatform): Promise<void> {
  const { config, out, version } = release
  const name = `${config.deb}_${version}_${CPUS[platform]}.deb`
  const [control, data] = [join(out, `.${name}.control`), join(out, `.${name}.data`)]
  try {
    await writeTarGz(control, await controlFiles(release, platform))
    await writeTarGz(data, withFolders(release, packagedFiles(release, platform)))
    const members = [
      { name: 'debian-binary', body: Buffer.from('2.0\n') },
      { name: 'control.tar.gz', body: control },
      { name: 'data.tar.gz', body: data },
    ]
    await writeAr(join(out, name), members, secondsOf(release))
  } finally {
    for (const part of [control, data]) rmSync(part, { force: true })
  }
}

/** What is installed, by its path, without the folders above it. */
function packagedFiles(release: Release, platform: LinuxPlatform): TarSource[] {
  const documents = `usr/share/doc/${release.config.deb}`
  return [
    textSource('etc/svc.env', sourceOf(release, 'svc.env'), special(release, { mode: 0o600 })),
    linkSource(release, 'usr/bin/svc', '../lib/svc/svc'),
    // Who installed it with dpkg updates it with dpkg.
    textSource('usr/lib/svc/managed', 'deb\n', special(release)),
    fileSource(
      'usr/lib/svc/svc',
      join(release.out, executableName(platform)),
      special(release, { mode: 0o755 }),
    ),
    textSource('usr/lib/systemd/system/svc.service', unitOf(release), special(release)),
    bytesSource(`${documents}/changelog.gz`, gzipSync(changelogOf(release), { level: 9 }), special(release)),
    textSource(`${documents}/copyright`, copyrightOf(release), special(release)),
  ]
}

async function controlFiles(release: Release, platform: LinuxPlatform): Promise<TarSource[]> {
  const scripts = ['postinst', 'postrm', 'prerm']
  return [
    textSource('./control', controlOf(release, platform), special(release)),
    textSource('./conffiles', '/etc/svc.env\n', special(release)),
    textSource('./md5sums', await md5sumsOf(packagedFiles(release, platform)), special(release)),
    ...scripts.map((name) =>
      textSource(`./${name}`, sourceOf(release, name), special(release, { mode: 0o755 })),
    ),
  ]
}

/** dpkg wants each folder before what lies in it. */
function withFolders(release: Release, sources: readonly TarSource[]): TarSource[] {
  const folders = new Set(['.'])
  for (const { name } of sources) {
    const parts = name.split('/')
    for (let depth = 1; depth < parts.length; depth++) folders.add(`./${parts.slice(0, depth).join('/')}`)
  }
  return [
    ...[...folders].map((folder) =>
      textSource(`${folder}/`, '', special(release, { mode: 0o755, isFolder: true })),
    ),
    ...sources.map((source) => ({ ...source, name: `./${source.name}` })),
  ]
}

/** Of all but links and settings, for `dpkg --verify`. */
async function md5sumsOf(sources: readonly TarSource[]): Promise<string> {
  const lines: string[] = []
  for (const { name, body, special } of sources) {
    if (special?.linkTo !== undefined || name.startsWith('etc/') || typeof body === 'function') continue
    const hash = createHash('md5')
    await pipeline(body instanceof Uint8Array ? [body] : body, hash)
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  return lines.join('')
}

function controlOf(release: Release, platform: LinuxPlatform): string {
  const installedKib = Math.ceil(sizeOf(join(release.out, executableName(platform))) / 1024) + 32
  return fill(sourceOf(release, 'control'), release, {
    debVersion: debVersionOf(release.version),
    architecture: CPUS[platform],
    maintainer: maintainerOf(release),
    installedKib: String(installedKib),
  })
}

/** The unit of the documents, with the executable of the package. */
function unitOf({ root }: Release): string {
  const unit = readFileSync(join(root, 'docs/svc.service'), 'utf8')
  const moved = unit
    .replace('/etc/systemd/system/', '/usr/lib/systemd/system/')
    .replace('ExecStart=/usr/local/bin/svc serve', 'ExecStart=/usr/bin/svc serve')
  if (!moved.includes('ExecStart=/usr/bin/svc serve')) throw new Error('docs/svc.service starts another svc')
  return moved
}

/** LICENSE is a title, the copyright and the terms, with empty lines between them. */
function copyrightOf(release: Release): string {
  const [, copyright = '', ...terms] = readFileSync(join(release.root, 'LICENSE'), 'utf8')
    .trim()
    .split('\n\n')
  return fill(sourceOf(release, 'copyright'), release, {
    copyright: copyright.replace('Copyright (c) ', ''),
    license: indented(terms.join('\n\n')),
  })
}

/** Of a field in several lines: a space in front, and a dot for an empty one. */
const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => ` ${line.trim() === '' ? '.' : line}`)
    .join('\n')

function changelogOf(release: Release): string {
  const { config, version, notes, publishedAt } = release
  const lines = notes.split('\n').filter((line) => line.trim() !== '')
  const changes = [`  * Version ${version}.`, ...lines.map((line) => `    ${line}`)]
  const time = new Date(publishedAt).toUTCString().replace('GMT', '+0000')
  const head = `${config.deb} (${debVersionOf(version)}) unstable; urgency=medium`
  return `${[head, '', ...changes, '', ` -- ${maintainerOf(release)}  ${time}`].join('\n')}\n`
}

/** The host that releases come from stands for whoever makes them. */
const maintainerOf = ({ config }: Release): string =>
  `svc maintainers <svc@${new URL(config.index).hostname}>`

const secondsOf = ({ publishedAt }: Release): number => Math.floor(Date.parse(publishedAt) / 1000)

const sourceOf = ({ root }: Release, name: string): string =>
  readFileSync(join(root, 'packages/deb', name), 'utf8')

const special = (release: Release, more: TarSpecial = {}): TarSpecial => ({
  modifiedAt: secondsOf(release),
  ...more,
})

const bytesSource = (name: string, body: Uint8Array, more: TarSpecial): TarSource => ({
  name,
  sizeBytes: body.length,
  body,
  special: more,
})

const linkSource = (release: Release, name: string, linkTo: string): TarSource =>
  textSource(name, '', special(release, { mode: 0o777, linkTo }))
