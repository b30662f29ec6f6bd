import { Database } from 'bun:sqlite'
import { createReadStream, readdirSync } from 'node:fs'
import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../domain/errors.ts'
import { readTar } from './archive/tar.ts'
import { BACKUP_END, BACKUP_FORMAT, BackupSum } from './backup.ts'
import type { ByteStream } from './byte-stream.ts'
import { syncFolder } from './durable-file.ts'

/** A backup that cannot be used, or a place that it cannot go to. Nothing was changed. */
export class RestoreError extends Error {}

const KNOWN =
  /^(svc\.db|secret\.key|blobs\/packs\/[\w-]+\.pack|blobs\/files\/[0-9a-f]{2}\/[0-9a-f]{64}|certs\/[\w./-]+)$/

const MAX_LINE = 1000

/**
 * Unpacks a backup into an empty data directory. It is unpacked and checked beside its place first and moved there at the
 * end, the database last, so a directory never looks restored when it is not.
 */
export async function restoreBackup(file: string, dataDir: string, id: string): Promise<{ files: number }> {
  refuseFilled(dataDir)
  const staged = join(dataDir, `.restore-${id}`)
  const made = await mkdir(staged, { recursive: true, mode: 0o700 })
  let isRestored = false
  try {
    const files = await unpack(file, staged)
    checkDatabase(join(staged, 'svc.db'))
    for (const name of readdirSync(staged))
      if (name !== 'svc.db') await rename(join(staged, name), join(dataDir, name))
    await syncFolder(dataDir)
    await rename(join(staged, 'svc.db'), join(dataDir, 'svc.db'))
    await syncFolder(dataDir)
    isRestored = true
    return { files }
  } finally {
    await rm(staged, { recursive: true, force: true })
    if (!isRestored && made !== undefined) await removeEmpty(resolve(dataDir), resolve(made))
  }
}

/** Takes away the folders from `inner` up to `outer`, which were made for nothing. */
async function removeEmpty(inner: string, outer: string): Promise<void> {
  for (let folder = inner; folder.length >= outer.length; folder = dirname(folder))
    await rmdir(folder).catch(() => undefined)
}

function refuseFilled(dataDir: string): void {
  let names: string[]
  try {
    names = readdirSync(dataDir)
  } catch {
    return
  }
  // A file system of its own has this folder from the start.
  if (names.some((name) => name !== 'lost+found'))
    throw new RestoreError(`${dataDir} is not empty; restore into a new data directory`)
}

/** Returns how many files there were. */
async function unpack(file: string, staged: string): Promise<number> {
  const folders = new Set<string>()
  const sum = new BackupSum()
  const { files, end } = await unpackEntries(file, staged, folders, sum).catch((error: unknown) => {
    // Of the place that it goes to, not of the backup.
    if (error instanceof RestoreError || isFull(error)) throw error
    throw new RestoreError(`${file} cannot be read as a backup: ${messageOf(error)}`)
  })
  if (end === undefined) throw new RestoreError(`${file} is no backup of svc, or not a whole one`)
  if (end !== '' && end !== sum.text())
    throw new RestoreError(`${file} is damaged: it does not hold what was written`)
  for (const folder of folders) await syncFolder(folder)
  return files
}

const UNLIMITED = { maxFiles: Number.MAX_SAFE_INTEGER, maxBytes: Number.MAX_SAFE_INTEGER }

/** `end`: what the last entry of a backup says; undefined where it is not there. */
async function unpackEntries(
  file: string,
  staged: string,
  folders: Set<string>,
  sum: BackupSum,
): Promise<{ files: number; end: string | undefined }> {
  let isFirst = true
  let end: string | undefined
  let files = 0
  for await (const { path, body } of readTar(createReadStream(file), UNLIMITED)) {
    if (isFirst && path !== BACKUP_FORMAT.name) break
    if (path === BACKUP_END) end = await textOf(body)
    else if (isFirst) await textOf(sum.entry(path, body))
    else {
      if (!KNOWN.test(path) || path.includes('..'))
        throw new RestoreError(`${file} holds "${path}", which no backup does`)
      await writeDurably(join(staged, path), sum.entry(path, body), folders)
      files += 1
    }
    isFirst = false
  }
  return { files, end }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

/** Of the two entries that say what the file is; neither is longer than a line. */
async function textOf(body: ByteStream | Uint8Array): Promise<string> {
  let text = ''
  for await (const piece of body instanceof Uint8Array ? [body] : body)
    if (text.length < MAX_LINE) text += Buffer.from(piece).toString()
  return text
}

async function writeDurably(path: string, body: ByteStream, folders: Set<string>): Promise<void> {
  if (!folders.has(dirname(path))) await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  folders.add(dirname(path))
  const out = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of body) await out.writeFile(chunk)
    await out.datasync()
  } finally {
    await out.close()
  }
}

function checkDatabase(path: string): void {
  try {
    const sqlite = new Database(path, { readonly: true })
    try {
      const found = sqlite.query<{ quick_check: string }, []>('PRAGMA quick_check').get()
      if (found?.quick_check !== 'ok')
        throw new RestoreError(`the database in the backup is damaged: ${found?.quick_check}`)
    } finally {
      sqlite.close()
    }
  } catch (error) {
    if (error instanceof RestoreError) throw error
    throw new RestoreError(`the database in the backup cannot be opened: ${messageOf(error)}`)
  }
}
