import { Database } from 'bun:sqlite'
import { type Dirent, readdirSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TarSource, tarEntries } from './archive/tar-write.ts'
import { isBackupName, isPlaceOfServer } from './backup-names.ts'
import type { ByteStream } from './byte-stream.ts'
import { syncFolder } from './durable-file.ts'
import { refuseLostDatabase } from './lost-database.ts'

/** How the name of a file begins that is kept fresh while a backup reads: the collector frees nothing then. Each has its own. */
export const BACKUP_MARK = 'backup-running'
const TOUCH_EVERY_MS = 30_000

/** The first entry of a backup, so that another tar file is not taken for one. */
export const BACKUP_FORMAT = { name: 'svc-backup.json', content: '{"format":"svc-backup","version":1}\n' }
/**
 * The last entry: a backup without it is not whole. It says the SHA-256 of the names and contents before it; those of
 * earlier versions are empty.
 */
export const BACKUP_END = 'svc-backup.end'

/** Gathers what `BACKUP_END` says, entry by entry. */
export class BackupSum {
  readonly #sum = new Bun.CryptoHasher('sha256')

  /** The same bytes, counted as they pass. */
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

/** What a backup holds, beside the database: the folders and files of the data directory that must survive. */
const FILES = ['secret.key']
const FOLDERS = ['blobs/packs', 'blobs/files']
/** Small files that a server replaces while it runs, each whole. */
const REPLACED_FOLDERS = ['certs']

/**
 * Writes everything of a data directory into one tar file, while a server may be writing: the database is copied as it
 * stood at one moment, and contents never change once they are there. The file appears when it is whole and durable. With
 * `stop` it can be given up: nothing of it stays then either.
 */
export async function writeBackup(
  dataDir: string,
  file: string,
  id: string,
  stop?: AbortSignal,
): Promise<{ sizeBytes: number; files: number }> {
  refuseLostDatabase(dataDir)
  if (isPlaceOfServer(dataDir, file)) throw new Error(`${file} is a place of the server's own; name another`)
  await refuseToReplace(file)
  const mark = join(dataDir, `${BACKUP_MARK}-${id}`)
  const copy = join(dataDir, 'tmp', `backup-${id}.db`)
  const partial = `${file}.${id}.partial`
  writeFileSync(mark, '')
  // Written anew it is fresh again.
  const timer = setInterval(() => writeFileSync(mark, ''), TOUCH_EVERY_MS)
  try {
    await mkdir(dirname(copy), { recursive: true })
    copyDatabase(join(dataDir, 'svc.db'), copy)
    const written = await writeTar(partial, dataDir, copy, stop)
    await rename(partial, file)
    await syncFolder(dirname(file))
    return written
  } finally {
    clearInterval(timer)
    await Promise.all([mark, copy, partial].map((path) => rm(path, { force: true })))
  }
}

/** A name that was mistyped must not cost what is there: only an earlier backup, or an empty file, gives way. */
async function refuseToReplace(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined)
  if (found === undefined || (found.isFile() && found.size === 0)) return
  const start = found.isFile() ? await Bun.file(file).slice(0, BACKUP_FORMAT.name.length).text() : ''
  if (start !== BACKUP_FORMAT.name) throw new Error(`${file} is there already and is no backup`)
}

/** A copy of one moment. It reads under WAL, so writers are not held up. */
function copyDatabase(from: string, to: string): void {
  const sqlite = new Database(from, { readwrite: true })
  try {
    sqlite.run('PRAGMA busy_timeout = 10000')
    sqlite.query('VACUUM INTO ?').run(to)
  } finally {
    sqlite.close()
  }
}

async function writeTar(
  partial: string,
  dataDir: string,
  databaseCopy: string,
  stop: AbortSignal | undefined,
): Promise<{ sizeBytes: number; files: number }> {
  const out = await open(partial, 'wx', 0o600)
  const sum = new BackupSum()
  let sizeBytes = 0
  let files = 1
  try {
    const counted = async function* (): AsyncGenerator<TarSource> {
      for await (const { name, sizeBytes, body } of backupSources(dataDir, databaseCopy)) {
        files += 1
        yield { name, sizeBytes, body: sum.entry(name, body) }
      }
      yield textSource(BACKUP_END, sum.text())
    }
    for await (const chunk of tarEntries(counted())) {
      stop?.throwIfAborted()
      await out.writeFile(chunk)
      sizeBytes += chunk.length
    }
    await out.sync()
  } finally {
    await out.close()
  }
  return { sizeBytes, files }
}

type Source = { name: string; sizeBytes: number; body: ByteStream | Uint8Array }

async function* backupSources(dataDir: string, databaseCopy: string): AsyncGenerator<Source> {
  yield textSource(BACKUP_FORMAT.name, BACKUP_FORMAT.content)
  yield await fileSource('svc.db', databaseCopy)
  for (const name of FILES)
    if (await exists(join(dataDir, name))) yield await fileSource(name, join(dataDir, name))
  for (const folder of FOLDERS)
    for (const name of filesBelow(dataDir, folder))
      if (isBackupName(name)) yield await fileSource(name, join(dataDir, name))
  for (const folder of REPLACED_FOLDERS)
    for (const name of filesBelow(dataDir, folder)) yield* wholeSource(name, join(dataDir, name))
}

function textSource(name: string, content: string): Source {
  const body = new TextEncoder().encode(content)
  return { name, sizeBytes: body.length, body }
}

/** Read at once, so that its size is that of what is written. One that is gone by now is left out. */
async function* wholeSource(name: string, path: string): AsyncGenerator<Source> {
  const body = await readFile(path).catch((error) => {
    if (isMissing(error)) return null
    throw error
  })
  if (body !== null) yield { name, sizeBytes: body.length, body }
}

async function fileSource(name: string, path: string): Promise<Source> {
  const { size } = await stat(path)
  return { name, sizeBytes: size, body: Bun.file(path).stream() }
}

/** Listed after the database was copied: everything that the copy refers to is there by then. A folder may lack. */
function* filesBelow(dataDir: string, folder: string): Generator<string> {
  for (const entry of list(join(dataDir, folder))) {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(dataDir, name)
    else if (entry.isFile()) yield name
  }
}

/** A folder that cannot be listed fails the backup, which would lack what is in it. */
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
