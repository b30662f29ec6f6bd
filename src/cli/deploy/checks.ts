import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHECKS_FILE, MAX_CHECKS_BYTES } from '../../domain/checks-file.ts'
import { AppError } from '../../domain/errors.ts'
import { nestedFolder } from '../../domain/nested-folder.ts'
import { readChecksFile } from '../../modules/releases/checks-file.ts'
import { CommandFailure } from '../command.ts'
import { findUpwards } from '../config-file.ts'
import type { FoundFile } from './files.ts'
import { type HashedFile, hashFiles } from './manifest.ts'

/** The checks file that goes with a publish: that of the published folder, else the nearest above it. contract 13 §8. */
export async function readChecks(
  folder: string,
  found: readonly FoundFile[],
  isUnwrapped: boolean,
): Promise<HashedFile[]> {
  const nested = isUnwrapped ? nestedFolder(found.map(({ path }) => path)) : null
  const root = findUpwards(nested === null ? folder : join(folder, nested), (one) => isThere(checksIn(one)))
  if (root === undefined) return []
  return hashFiles([{ path: CHECKS_FILE, absolutePath: requireFile(checksIn(root)) }], () => {})
}

/** Fails with all that is wrong in it, as the server would. */
export async function refuseWrongChecks(files: readonly FoundFile[]): Promise<void> {
  for (const { path, absolutePath } of files)
    await readChecksFile(path, readFileSync(absolutePath)).catch((error) => {
      throw error instanceof AppError ? new CommandFailure(error.message) : error
    })
}

const checksIn = (root: string): string => join(root, ...CHECKS_FILE.split('/'))

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** A link could lead to anything, and nobody sees what was sent. */
function requireFile(path: string): string {
  const stats = lstatSync(path)
  if (!stats.isFile()) throw new CommandFailure(`${path} is no file; svc reads what is checked from it`)
  if (stats.size > MAX_CHECKS_BYTES)
    throw new CommandFailure(`${path}:1:1 has ${stats.size} bytes; at most ${MAX_CHECKS_BYTES} are read`)
  return path
}
