import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CommandFailure } from '../../src/cli/command.ts'
import { isRecord } from '../../src/domain/is-record.ts'
import { MANIFEST } from './manifest.ts'
import { SUMS } from './sums.ts'

/** Refuses a folder that holds what no release is, before hours of work go into it. */
export function requireReplaceable(out: string): void {
  const found = statSync(out, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isDirectory()) throw new CommandFailure(`${out} is no folder; name another with --out`)
  if (readdirSync(out).length > 0 && !isRelease(out))
    throw new CommandFailure(
      `${out} is neither empty nor a release, so it is left as it is; name another with --out`,
    )
}

/**
 * Lets `make` fill a folder beside `out`, and then puts it in the place of `out`, whole. When it fails, `out` is as it was and
 * nothing lies beside it.
 */
export async function inPlaceOf(out: string, make: (folder: string) => Promise<void>): Promise<void> {
  mkdirSync(dirname(out), { recursive: true })
  const folder = mkdtempSync(join(dirname(out), `.${basename(out)}-`))
  const former = `${folder}-former`
  try {
    await make(folder)
    requireReplaceable(out)
    if (existsSync(out)) renameSync(out, former)
    renameSync(folder, out)
  } finally {
    for (const left of [folder, former]) rmSync(left, { recursive: true, force: true })
  }
}

function isRelease(folder: string): boolean {
  if (!existsSync(join(folder, SUMS))) return false
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'))
    return isRecord(manifest) && typeof manifest['version'] === 'string' && Array.isArray(manifest['files'])
  } catch {
    return false
  }
}
