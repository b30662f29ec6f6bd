import type { Database } from 'bun:sqlite'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf } from '../domain/errors.ts'
import { readTar } from './archive/tar.ts'
import { BACKUP_END, BACKUP_FORMAT, BackupSum } from './backup.ts'
import { isBackupName, isStray } from './backup-names.ts'
import type { ByteStream } from './byte-stream.ts'
import { syncFolder } from './durable-file.ts'
import { handOver, makeFolder } from './owner.ts'
import { fillDataDir, interrupted, RestoreError, refuseFilled } from './restore-target.ts'

export { RestoreError }

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
  try {
    return await fillDataDir(dataDir, id, { stop, prepare }, (folder) => unpack(backup, folder))
  } finally {
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

const unreadable = (file: string, error: unknown): RestoreError =>
  new RestoreError(`${file} cannot be read as a backup: ${messageOf(error)}`, { cause: error })

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
