import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure, UsageError } from '../../src/cli/command.ts'
import { notesOf } from './changelog.ts'
import { type ReleaseConfig, readReleaseConfig } from './config.ts'
import { publicKeyOf, releaseKey } from './key.ts'
import { PLATFORMS, type Platform, type Release } from './release.ts'
import { isVersion } from './version.ts'

export type ReleaseFlags = {
  version?: string | undefined
  /** A file. */
  key?: string | undefined
  /** Platforms, with commas. */
  only?: string | undefined
  unofficial: boolean
}

/**
 * What is to be made, of the project in `root`. `keyText` signs where no file is named. Throws a `CommandFailure` for all that
 * can be refused before anything is built.
 */
export function prepareRelease(
  flags: ReleaseFlags,
  root: string,
  keyText: string | undefined,
): Omit<Release, 'out'> {
  const version = versionOf(flags.version, root)
  const platforms = platformsOf(flags.only)
  const config = readReleaseConfig(root)
  const key = releaseKey(flags.key, keyText)
  const publicKey = publicKeyOf(key)
  if (!flags.unofficial) requireOfficial(config, publicKey)
  const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  const publishedAt = new Date().toISOString()
  return { version, commit: commitOf(root), publishedAt, notes, platforms, config, key, publicKey, root }
}

function versionOf(given: string | undefined, root: string): string {
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
    `the key that signs (${publicKey}) is not the one of release.config.json (${official}); give that one with --key, or --unofficial`,
  )
}

/** Null where the folder is not the top of a checkout. */
function commitOf(root: string): string | null {
  if (Bun.which('git') === null) return null
  const asked = ['git', 'rev-parse', '--show-prefix', 'HEAD']
  const { exitCode, stdout } = Bun.spawnSync(asked, { cwd: root, stdin: 'ignore', stderr: 'ignore' })
  const [prefix, commit] = stdout.toString().split('\n')
  return exitCode === 0 && prefix === '' && commit !== undefined ? commit : null
}
