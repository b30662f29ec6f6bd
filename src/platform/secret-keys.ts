import {
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DataDirError } from '../domain/data-dir-error.ts'
import { handOver } from './owner.ts'
import { randomBytes } from './random.ts'
import { syncNow } from './sync-now.ts'

/** 32 bytes in base64, the format of a line in `secret.key`. */
export const newSecretKey = (): string => randomBytes(32).toString('base64')

/**
 * The keys in `<dataDir>/secret.key`, newest first, one per line. Creates the file with mode 0600 if it does not exist.
 */
export function readSecretKeys(path: string): string[] {
  if (!existsSync(path)) makeKeyFile(path)
  if ((statSync(path).mode & 0o777) !== 0o600) chmodSync(path, 0o600)
  const keys = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const isGood = keys.length > 0 && keys.every((key) => Buffer.from(key, 'base64').length === 32)
  if (!isGood)
    throw new DataDirError(`${path} does not hold 32-byte keys in base64, one a line`, {
      damaged: 'secret_key',
    })
  return keys
}

/**
 * Replaces the keys atomically, also during a power failure. A leftover draft is overwritten. For one process at a
 * time.
 */
export function replaceSecretKeys(path: string, keys: readonly string[]): void {
  const draft = `${path}.new`
  placeWhole(draft, keys, () => renameSync(draft, path))
}

/** If two processes start at the same time, one creates the file and the other reads it. */
function makeKeyFile(path: string): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}.new`
  placeWhole(draft, [newSecretKey()], () => {
    try {
      linkSync(draft, path)
    } catch {
      if (existsSync(path)) return
      // The file system has no hard links.
      renameSync(draft, path)
    }
  })
}

/** Makes the bytes durable before the name, because anything sealed with lost keys is lost too. */
function placeWhole(draft: string, keys: readonly string[], place: () => void): void {
  rmSync(draft, { force: true })
  try {
    writeFileSync(draft, keys.map((key) => `${key}\n`).join(''), { mode: 0o600, flag: 'wx' })
    handOver(draft)
    syncNow(draft)
    place()
  } finally {
    rmSync(draft, { force: true })
  }
  syncNow(dirname(draft))
}
