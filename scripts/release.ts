import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CommandFailure, EXIT, parseFlags, UsageError } from '../src/cli/command.ts'
import { notesOf } from './release/changelog.ts'
import { readReleaseConfig, type ReleaseConfig } from './release/config.ts'
import { publicKeyOf, releaseKey } from './release/key.ts'
import { makeRelease } from './release/make.ts'
import { requireReplaceable } from './release/out-folder.ts'
import { PLATFORMS, type Platform, type Release } from './release/release.ts'
import { isVersion } from './release/version.ts'

const USAGE = `usage: npm run release -- [--version V] [--out DIR] [--key FILE] [--only PLATFORM,…] [--unofficial]

Makes a release in DIR and publishes nothing. docs/releasing.md says how one is published.

  --version V      the version of all that is made (Semantic Versioning); else that of package.json
  --out DIR        a folder that is not there, is empty or is a release, which is replaced; else dist/release
  --key FILE       the Ed25519 private key that signs, PKCS#8 PEM; else the text in SVC_RELEASE_KEY, else one of this run only
  --only PLATFORM  of ${PLATFORMS.join(', ')}; several with commas
  --unofficial     sign with another key than the one in release.config.json`

const OPTIONS = {
  version: { type: 'string' },
  out: { type: 'string', default: 'dist/release' },
  key: { type: 'string' },
  only: { type: 'string' },
  unofficial: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const root = join(import.meta.dir, '..')

process.exitCode = await main(Bun.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof CommandFailure)) throw error
  console.error(`release: ${error.message}${error instanceof UsageError ? `\n${USAGE}` : ''}`)
  return error.exitCode
})

async function main(args: string[]): Promise<number> {
  const { values } = parseFlags({ args, options: OPTIONS })
  if (values.help) {
    console.log(USAGE)
    return EXIT.ok
  }
  const out = resolve(root, values.out)
  const release = prepare(values)
  requireReplaceable(out)
  await makeRelease(out, release)
  console.error(`svc ${release.version} is in ${out}, signed with ${release.publicKey}`)
  return EXIT.ok
}

type Flags = {
  version?: string | undefined
  key?: string | undefined
  only?: string | undefined
  unofficial: boolean
}

/** Everything that may be refused is, before anything is built. */
function prepare(flags: Flags): Omit<Release, 'out'> {
  const version = versionOf(flags.version)
  const platforms = platformsOf(flags.only)
  const config = readReleaseConfig(root)
  const key = releaseKey(flags.key, process.env['SVC_RELEASE_KEY'])
  // No program that is started from here needs it.
  delete process.env['SVC_RELEASE_KEY']
  const publicKey = publicKeyOf(key)
  if (!flags.unofficial) requireOfficial(config, publicKey)
  const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  const publishedAt = new Date().toISOString()
  return { version, commit: commitOf(), publishedAt, notes, platforms, config, key, publicKey, root }
}

function versionOf(given: string | undefined): string {
  const manifest: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const version = given ?? manifest.version
  if (!isVersion(version))
    throw new UsageError(`"${version}" is no version: give one such as 1.2.0 or 1.2.0-rc.1 (semver.org)`)
  return version
}

function platformsOf(only: string | undefined): readonly Platform[] {
  if (only === undefined) return PLATFORMS
  const names = only.split(',')
  const unknown = names.find((name) => !PLATFORMS.some((platform) => platform === name))
  if (unknown !== undefined)
    throw new UsageError(`there is no platform "${unknown}"; there are ${PLATFORMS.join(', ')}`)
  return PLATFORMS.filter((platform) => names.includes(platform))
}

function requireOfficial({ publicKey: official }: ReleaseConfig, publicKey: string): void {
  if (official === null || official === publicKey) return
  throw new CommandFailure(
    `the key that signs (${publicKey}) is not the one of release.config.json (${official}); give that with --key, or --unofficial`,
  )
}

/** Null where this folder is not the top of a checkout. */
function commitOf(): string | null {
  const asked = ['git', 'rev-parse', '--show-prefix', 'HEAD']
  if (Bun.which('git') === null) return null
  const { exitCode, stdout } = Bun.spawnSync(asked, { cwd: root, stdin: 'ignore', stderr: 'ignore' })
  const [prefix, commit] = stdout.toString().split('\n')
  return exitCode === 0 && prefix === '' && commit !== undefined ? commit : null
}
