import { Database } from 'bun:sqlite'
import { readdirSync } from 'node:fs'
import { type FileHandle, open, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../domain/errors.ts'
import { readTar } from './archive/tar.ts'
import { BACKUP_END, BACKUP_FORMAT, BackupSum } from './backup.ts'
import { isBackupName, isStray } from './backup-names.ts'
import type { ByteStream } from './byte-stream.ts'
import { syncFolder } from './durable-file.ts'
import { LOCK_FILE, lockDataDir } from './instance-lock.ts'
import { handOver, makeFolder, makeRootFolder, workForOwnerOf } from './owner.ts'

/** An unusable backup, or a target where it cannot be restored. Nothing was changed. */
export class RestoreError extends Error {}

const MAX_LINE = 1000
const READ_BYTES = 256 * 1024

/** `stop` aborts it until the files are moved. `prepare` may change the checked database before that. */
type RestoreOptions = { stop?: AbortSignal | undefined; prepare?: (sqlite: Database) => void }

/** Where a backup is read from: a file, or an object of a store. */
export type BackupSource = {
  /** As messages call it. */
  name: string
  open(stop: AbortSignal | undefined): Promise<{ bytes: ByteStream; close(): Promise<void> }>
}

/** What was restored; without contents, their folder is still to come. */
export type Restored = { files: number; hasContents: boolean }

/**
 * Unpacks a backup into an empty data directory. It is unpacked and checked next to the target, then moved there with
 * the database last, so a directory never looks restored when it is not.
 */
export async function restoreBackup(
  source: BackupSource,
  dataDir: string,
  id: string,
  { stop, prepare = () => {} }: RestoreOptions = {},
): Promise<Restored> {
  refuseFilled(dataDir)
  // Reading from a pipe may block for long, so nothing is created before.
  const backup = await openBackup(source, stop)
  const made = makeRootFolder(dataDir)
  let isRestored = false
  try {
    workForOwnerOf(dataDir)
    const restored = await whileAlone(dataDir, () =>
      restoreInto(dataDir, join(dataDir, `.restore-${id}`), backup, prepare),
    )
    isRestored = true
    return restored
  } finally {
    if (!isRestored && made !== undefined) await removeEmpty(resolve(dataDir), resolve(made))
    const closed = backup.close()
    // Closing waits for a pending read, which may never end on a pipe.
    if (!stop?.aborted) await closed
  }
}

export const fileSource = (file: string): BackupSource => ({
  name: file,
  async open(stop) {
    const opening = open(file)
    try {
      const handle = await unlessStopped(opening, stop)
      return { bytes: bytesOf(handle, stop), close: () => handle.close() }
    } catch (error) {
      void opening.then((handle) => handle.close()).catch(() => undefined)
      throw error
    }
  },
})

type OpenBackup = {
  name: string
  bytes: ByteStream
  close(): Promise<void>
  stop: AbortSignal | undefined
}

async function openBackup(source: BackupSource, stop: AbortSignal | undefined): Promise<OpenBackup> {
  try {
    return { ...(await source.open(stop)), name: source.name, stop }
  } catch (error) {
    throw error instanceof RestoreError
      ? error
      : stop?.aborted
        ? interrupted()
        : unreadable(source.name, error)
  }
}

async function* bytesOf(handle: FileHandle, stop: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await unlessStopped(handle.read(new Uint8Array(READ_BYTES)), stop)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** The promise may wait for a pipe. */
async function unlessStopped<T>(wait: Promise<T>, stop: AbortSignal | undefined): Promise<T> {
  if (stop === undefined) return wait
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const onStop = () => reject(interrupted())
  stop.addEventListener('abort', onStop)
  try {
    if (stop.aborted) throw interrupted()
    return await Promise.race([wait, stopped])
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}

const interrupted = (): RestoreError => new RestoreError('it was interrupted, and nothing was changed')

const unreadable = (file: string, error: unknown): RestoreError =>
  new RestoreError(`${file} cannot be read as a backup: ${messageOf(error)}`, { cause: error })

/** No server and no other restore may start meanwhile, or its files would mix with these. */
async function whileAlone<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const lock = lockDataDir(dataDir)
  if (lock === undefined) throw new RestoreError(`${dataDir} is in use by a server or another restore`)
  try {
    refuseFilled(dataDir)
    return await work()
  } finally {
    await rm(join(dataDir, LOCK_FILE), { force: true })
    lock.release()
  }
}

async function restoreInto(
  dataDir: string,
  staged: string,
  backup: OpenBackup,
  prepare: (sqlite: Database) => void,
): Promise<Restored> {
  try {
    makeFolder(staged)
    const restored = await unpack(backup, staged)
    const database = join(staged, 'svc.db')
    checkDatabase(database)
    prepareDatabase(database, prepare)
    // SQLite created these when the database was checked.
    for (const beside of ['-wal', '-shm']) await rm(`${database}${beside}`, { force: true })
    if (backup.stop?.aborted) throw interrupted()
    for (const name of readdirSync(staged))
      if (name !== 'svc.db') await rename(join(staged, name), join(dataDir, name))
    await syncFolder(dataDir)
    await rename(join(staged, 'svc.db'), join(dataDir, 'svc.db'))
    await syncFolder(dataDir)
    return restored
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

function prepareDatabase(path: string, prepare: (sqlite: Database) => void): void {
  const sqlite = new Database(path, { strict: true })
  try {
    prepare(sqlite)
  } finally {
    sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    sqlite.close()
  }
}

/** Removes the empty folders from `inner` up to `outer`, which were created for nothing. */
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
  // lost+found exists on any separate file system. The lock file and its journal do not count: the lock itself is
  // checked.
  if (names.some((name) => name !== 'lost+found' && !name.startsWith(LOCK_FILE)))
    throw new RestoreError(`${dataDir} is not empty; restore into a new data directory`)
}

async function unpack(backup: OpenBackup, staged: string): Promise<Restored> {
  const { name } = backup
  const folders = new Set<string>()
  const sum = new BackupSum()
  const { end, ...restored } = await unpackEntries(backup, staged, folders, sum).catch((error: unknown) => {
    // Caused by the target directory, not by the backup.
    if (error instanceof RestoreError || isFull(error)) throw error
    throw backup.stop?.aborted ? interrupted() : unreadable(name, error)
  })
  if (end === undefined) throw new RestoreError(`${name} is not a complete backup of svc`)
  if (end !== '' && end !== sum.text())
    throw new RestoreError(`${name} is damaged: its contents do not match its checksum`)
  for (const folder of foldersWithin(staged, folders)) await syncFolder(folder)
  return restored
}

/** All folders that contain files or folders with files, starting with `root`. */
function foldersWithin(root: string, folders: ReadonlySet<string>): Set<string> {
  const all = new Set([root])
  for (let folder of folders) for (; folder.length > root.length; folder = dirname(folder)) all.add(folder)
  return all
}

const UNLIMITED = { maxFiles: Number.MAX_SAFE_INTEGER, maxBytes: Number.MAX_SAFE_INTEGER }

/** `end`: the content of the last entry of a backup; undefined if it is missing. */
async function unpackEntries(
  backup: OpenBackup,
  staged: string,
  folders: Set<string>,
  sum: BackupSum,
): Promise<Restored & { end: string | undefined }> {
  let format: string | undefined
  let end: string | undefined
  let files = 0
  for await (const { path, body, linkTo } of readTar(backup.bytes, UNLIMITED)) {
    if (format === undefined) {
      if (path !== BACKUP_FORMAT.name) break
      format = await textOf(sum.entry(path, body))
    } else if (path === BACKUP_END) end = await textOf(body)
    else if (isStray(path)) await textOf(sum.entry(path, body))
    else {
      if (!isBackupName(path) || linkTo !== undefined)
        throw new RestoreError(`${backup.name} holds "${path}", which does not belong in a backup`)
      await writeDurably(join(staged, path), sum.entry(path, body), folders)
      files += 1
    }
  }
  return { files, end, hasContents: format !== BACKUP_FORMAT.contentWithoutContents }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

/** The text of one of the two marker entries, which are at most a line long. Of any other entry, only the start. */
async function textOf(body: ByteStream | Uint8Array): Promise<string> {
  let text = ''
  for await (const piece of body instanceof Uint8Array ? [body] : body)
    if (text.length < MAX_LINE) text += Buffer.from(piece).toString()
  return text
}

async function writeDurably(path: string, body: ByteStream, folders: Set<string>): Promise<void> {
  if (!folders.has(dirname(path))) makeFolder(dirname(path))
  folders.add(dirname(path))
  const out = await open(path, 'wx', 0o600)
  handOver(path)
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
