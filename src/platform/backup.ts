import { Database } from 'bun:sqlite'
import { type Dirent, readdirSync, writeFileSync } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TarSource, tarEntries } from './archive/tar-write.ts'
import { isBackupName } from './backup-names.ts'
import type { ByteStream } from './byte-stream.ts'
import { isCopy } from './copy-of-store.ts'
import { namingHolder, waitForLocks } from './database-lock.ts'
import { refuseLostDatabase } from './lost-database.ts'
import { handOver, makeFolder } from './owner.ts'

/**
 * Prefix of the marker file that a backup keeps fresh while it reads, so that the garbage collector deletes nothing.
 * Each backup has a marker of its own.
 */
export const BACKUP_MARK = 'backup-running'
const TOUCH_EVERY_MS = 30_000

/** The first entry of a backup, so that no other tar file is mistaken for one. */
export const BACKUP_FORMAT = {
  name: 'svc-backup.json',
  content: '{"format":"svc-backup","version":1}\n',
  contentWithoutContents: '{"format":"svc-backup","version":1,"contents":false}\n',
}
/**
 * The last entry. A backup without it is incomplete. It contains the SHA-256 of all names and contents before it; in
 * backups of earlier versions it is empty.
 */
export const BACKUP_END = 'svc-backup.end'

/** Computes the content of `BACKUP_END`, entry by entry. */
export class BackupSum {
  readonly #sum = new Bun.CryptoHasher('sha256')

  /** Passes the bytes on, and adds them to the sum. */
  async *entry(name: string, body: ByteStream | Uint8Array): AsyncGenerator<Uint8Array> {
    this.#sum.update(`${name}\0`)
    for await (const piece of body instanceof Uint8Array ? [body] : body) {
      this.#sum.update(piece)
      yield piece
    }
  }

  text(): string {
    return `sha256 ${this.#sum.copy().digest('hex')}\n`
  }
}

/** The files and folders of the data directory that a backup includes, besides the database. */
const FILES = ['secret.key']
const CONTENT_FOLDERS = ['blobs/packs', 'blobs/files']
/** Folders of small files that a running server replaces as a whole. */
const REPLACED_FOLDERS = ['certs']

/** Where a backup is written: a file, or an object of a store. */
export type BackupTarget = {
  /** Throws where something else than an earlier backup would be replaced. */
  refuseToReplace(): Promise<void>
  /** What it makes is there once the bytes have come to their end. */
  write(bytes: ByteStream): Promise<void>
}

export type BackupOptions = {
  /** Aborts it; then nothing is left behind. */
  stop?: AbortSignal | undefined
  /** Without contents it holds what the database says of them, for those who keep `blobs/` another way. */
  withContents?: boolean
  /** Where contents come from that a copy of the database names; the data directory unless said. */
  contentsOf?: ((databaseCopy: string) => AsyncIterable<BackupEntry>) | undefined
}

/** A file of the archive, by its name in the data directory. */
export type BackupEntry = { name: string; sizeBytes: number; body: ByteStream | Uint8Array }

/**
 * Writes the whole data directory into one tar archive, even while a server is writing: the database is copied as of one
 * moment, and contents never change once they exist.
 */
export async function writeBackup(
  dataDir: string,
  target: BackupTarget,
  id: string,
  { stop, withContents = true, contentsOf = () => localContents(dataDir) }: BackupOptions = {},
): Promise<{ sizeBytes: number; files: number }> {
  refuseLostDatabase(dataDir)
  await target.refuseToReplace()
  const mark = join(dataDir, `${BACKUP_MARK}-${id}`)
  const copy = join(dataDir, 'tmp', `backup-${id}.db`)
  writeFileSync(mark, '')
  handOver(mark)
  // Writing the marker again refreshes its time.
  const timer = setInterval(() => writeFileSync(mark, ''), TOUCH_EVERY_MS)
  try {
    makeFolder(dirname(copy))
    copyDatabase(join(dataDir, 'svc.db'), copy)
    const written = { sizeBytes: 0, files: 0 }
    await target.write(
      archive(backupSources(dataDir, copy, withContents ? contentsOf(copy) : null), written, stop),
    )
    return written
  } finally {
    clearInterval(timer)
    await Promise.all([mark, copy].map((path) => rm(path, { force: true })))
  }
}

/** A copy as of one moment. It reads under WAL, so it does not block writers. */
function copyDatabase(from: string, to: string): void {
  // The last connection that closes copies the log into the file, unless it only reads: of a copy that is for its server.
  const sqlite = new Database(from, isCopy(dirname(from)) ? { readonly: true } : { readwrite: true })
  try {
    waitForLocks(sqlite)
    namingHolder(from, () => sqlite.query('VACUUM INTO ?').run(to))
    handOver(to)
  } finally {
    sqlite.close()
  }
}

/** Counts in `written` what it passes on. */
async function* archive(
  sources: AsyncIterable<BackupEntry>,
  written: { sizeBytes: number; files: number },
  stop: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const sum = new BackupSum()
  const counted = async function* (): AsyncGenerator<TarSource> {
    for await (const { name, sizeBytes, body } of sources) {
      if (name !== BACKUP_FORMAT.name) written.files += 1
      yield { name, sizeBytes, body: sum.entry(name, body) }
    }
    yield textSource(BACKUP_END, sum.text())
  }
  for await (const chunk of tarEntries(counted())) {
    stop?.throwIfAborted()
    written.sizeBytes += chunk.length
    yield chunk
  }
}

async function* backupSources(
  dataDir: string,
  databaseCopy: string,
  contents: AsyncIterable<BackupEntry> | null,
): AsyncGenerator<BackupEntry> {
  yield textSource(
    BACKUP_FORMAT.name,
    contents === null ? BACKUP_FORMAT.contentWithoutContents : BACKUP_FORMAT.content,
  )
  yield await fileSource('svc.db', databaseCopy)
  for (const name of FILES)
    if (await exists(join(dataDir, name))) yield await fileSource(name, join(dataDir, name))
  if (contents !== null) yield* contents
  for (const folder of REPLACED_FOLDERS)
    for (const name of filesBelow(dataDir, folder)) yield* wholeSource(name, join(dataDir, name))
}

async function* localContents(dataDir: string): AsyncGenerator<BackupEntry> {
  for (const folder of CONTENT_FOLDERS)
    for (const name of filesBelow(dataDir, folder))
      if (isBackupName(name)) yield await fileSource(name, join(dataDir, name))
}

function textSource(name: string, content: string): BackupEntry {
  const body = new TextEncoder().encode(content)
  return { name, sizeBytes: body.length, body }
}

/** Reads the file at once, so that its size matches its bytes. Skips a file that has disappeared. */
async function* wholeSource(name: string, path: string): AsyncGenerator<BackupEntry> {
  const body = await readFile(path).catch((error) => {
    if (isMissing(error)) return null
    throw error
  })
  if (body !== null) yield { name, sizeBytes: body.length, body }
}

async function fileSource(name: string, path: string): Promise<BackupEntry> {
  const { size } = await stat(path)
  return { name, sizeBytes: size, body: Bun.file(path).stream() }
}

/**
 * Listed after the database was copied, so everything that the copy refers to exists by then. The folder may be
 * missing.
 */
function* filesBelow(dataDir: string, folder: string): Generator<string> {
  for (const entry of list(join(dataDir, folder))) {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(dataDir, name)
    else if (entry.isFile()) yield name
  }
}

/** A folder that cannot be listed fails the backup, which would otherwise be incomplete. */
function list(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
