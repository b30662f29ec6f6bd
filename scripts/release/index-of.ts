import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from '../../src/cli/command.ts'
import { isRecord } from '../../src/domain/is-record.ts'
import { MANIFEST } from './manifest.ts'
import { compareVersions, isVersion, preReleaseOf } from './version.ts'

type Listed = { version: string; publishedAt: string; notes: string; url: string }

export type Index = {
  /** The newest without a pre-release part. */
  latest: string | null
  /** Newest first. */
  releases: Listed[]
}

/** The releases in the folders of `root`, each named by its version. Throws a `CommandFailure` for one that is broken. */
export function indexOf(root: string): Index {
  const releases = versionsIn(root)
    .sort((a, b) => compareVersions(b, a))
    .map((version) => listed(root, version))
  const latest = releases.find(({ version }) => preReleaseOf(version) === undefined)
  return { latest: latest?.version ?? null, releases }
}

/** Writes `root/index.json` beside and renames it, so that nobody reads half of it. */
export function writeIndex(root: string): Index {
  const index = indexOf(root)
  const partial = join(root, '.index.json.partial')
  writeFileSync(partial, `${JSON.stringify(index, null, 2)}\n`)
  renameSync(partial, join(root, 'index.json'))
  return index
}

function versionsIn(root: string): string[] {
  try {
    return readdirSync(root).filter((name) => isVersion(name) && existsSync(join(root, name, MANIFEST)))
  } catch (error) {
    throw new CommandFailure(`${root} cannot be read: ${String(error)}`)
  }
}

function listed(root: string, version: string): Listed {
  const file = join(root, version, MANIFEST)
  const manifest = manifestIn(file)
  const { publishedAt, notes } = manifest
  if (manifest['version'] !== version)
    throw new CommandFailure(`${file} is of version ${String(manifest['version'])}: name its folder so`)
  if (typeof publishedAt !== 'string' || Number.isNaN(Date.parse(publishedAt)) || typeof notes !== 'string')
    throw new CommandFailure(`${file} lacks publishedAt or notes: make that release again`)
  return { version, publishedAt, notes, url: `${version}/` }
}

function manifestIn(file: string): Record<string, unknown> {
  let read: unknown
  try {
    read = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read: ${String(error)}`)
  }
  if (!isRecord(read)) throw new CommandFailure(`${file} is no list of a release: make that release again`)
  return read
}
