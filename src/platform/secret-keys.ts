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
import { randomBytes } from './random.ts'
import { syncNow } from './sync-now.ts'

/** 32 bytes in base64, as a line of `secret.key`. */
export const newSecretKey = (): string => randomBytes(32).toString('base64')

/** The keys in `<dataDir>/secret.key`, newest first, one a line; made with mode 0600 when there is none. */
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

/** Whole or not at all, also when the power goes: what that left of the draft is written over. One process at a time. */
export function replaceSecretKeys(path: string, keys: readonly string[]): void {
  const draft = `${path}.new`
  placeWhole(draft, keys, () => renameSync(draft, path))
}

/** Of two processes that start at once one makes it; the other one reads what that made. */
function makeKeyFile(path: string): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}.new`
  placeWhole(draft, [newSecretKey()], () => {
    try {
      linkSync(draft, path)
    } catch {
      if (existsSync(path)) return
      // A file system without hard links.
      renameSync(draft, path)
    }
  })
}

/** What is sealed with the keys from now on is lost without them, so their bytes come before their name. */
function placeWhole(draft: string, keys: readonly string[], place: () => void): void {
  rmSync(draft, { force: true })
  try {
    writeFileSync(draft, keys.map((key) => `${key}\n`).join(''), { mode: 0o600, flag: 'wx' })
    syncNow(draft)
    place()
  } finally {
    rmSync(draft, { force: true })
  }
  syncNow(dirname(draft))
}
