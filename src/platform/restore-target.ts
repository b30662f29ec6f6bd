import { Database } from 'bun:sqlite'
import { readdirSync } from 'node:fs'
import { rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { messageOf } from '../domain/errors.ts'
import { syncFolder } from './durable-file.ts'
import { LOCK_FILE, lockDataDir } from './instance-lock.ts'
import { makeFolder, makeRootFolder, workForOwnerOf } from './owner.ts'
import { RestoreError } from './restore.ts'

/** `stop` aborts it until the files are moved. `prepare` may change the checked database before that. */
type Options = { stop: AbortSignal | undefined; prepare: (sqlite: Database) => void }

/**
 * Fills an empty data directory with what `fill` puts into the folder that it is given. That lies in the data directory and
 * is moved into place with the database last, so a directory never looks restored when it is not.
 */
export async function fillDataDir<T>(
  dataDir: string,
  id: string,
  options: Options,
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  refuseFilled(dataDir)
  const made = makeRootFolder(dataDir)
  let isFilled = false
  try {
    workForOwnerOf(dataDir)
    const filled = await whileAlone(dataDir, () => fillAndMove(dataDir, `.restore-${id}`, options, fill))
    isFilled = true
    return filled
  } finally {
    if (!isFilled && made !== undefined) await removeEmpty(resolve(dataDir), resolve(made))
  }
}

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

async function fillAndMove<T>(
  dataDir: string,
  name: string,
  { stop, prepare }: Options,
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  const staged = join(dataDir, name)
  try {
    makeFolder(staged)
    const filled = await fill(staged)
    const database = join(staged, 'svc.db')
    checkDatabase(database)
    prepareDatabase(database, prepare)
    // SQLite created these when the database was checked.
    for (const beside of ['-wal', '-shm']) await rm(`${database}${beside}`, { force: true })
    if (stop?.aborted) throw new RestoreError('it was interrupted, and nothing was changed')
    for (const name of readdirSync(staged))
      if (name !== 'svc.db') await rename(join(staged, name), join(dataDir, name))
    await syncFolder(dataDir)
    await rename(join(staged, 'svc.db'), join(dataDir, 'svc.db'))
    await syncFolder(dataDir)
    return filled
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

function checkDatabase(path: string): void {
  try {
    const sqlite = new Database(path, { readonly: true })
    try {
      const found = sqlite.query<{ quick_check: string }, []>('PRAGMA quick_check').get()
      if (found?.quick_check !== 'ok')
        throw new RestoreError(`the restored database is damaged: ${found?.quick_check}`)
    } finally {
      sqlite.close()
    }
  } catch (error) {
    if (error instanceof RestoreError) throw error
    throw new RestoreError(`the restored database cannot be opened: ${messageOf(error)}`)
  }
}
