import type { Database } from 'bun:sqlite'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { logKey } from '../../domain/store-keys.ts'
import { sha256Of } from '../../platform/object-store/sign.ts'
import type { StoreFile } from '../../platform/object-store/store-file.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { readAhead } from '../../platform/read-ahead.ts'
import { openDb } from '../open.ts'
import { listBases, listLog } from '../replication/log-objects.ts'
import { writeMarker } from '../replication/marker.ts'
import { pushCertificates } from './certificates.ts'
import { type ContentObject, listContents } from './contents.ts'
import { writeWholeLtx } from './whole-ltx.ts'

/** Why a workspace cannot be moved into a store. A second push is none the worse for it. */
export class PushError extends Error {}

type Push = {
  dataDir: string
  now: number
  newId: () => string
  stop: AbortSignal
  /** Gives each large content the id of its object. */
  prepare(sqlite: Database): void
}
/** `lost`: contents that were known to be damaged and have no file any more. */
export type Pushed = { objects: number; sentBytes: number; lost: string[] }

/** What no primary wrote. */
const EPOCH = 0
const AT_ONCE = 4

/**
 * Moves the workspace of a data directory that nobody uses into a store without a database, and makes the directory a copy of
 * it. Contents come first, then certificates, and the database last: a push that ends early left no workspace, and the next one
 * goes on.
 */
export async function pushWorkspace(
  store: ObjectStore,
  { id, createdAt }: StoreFile,
  push: Push,
): Promise<Pushed> {
  await refuseDatabase(store)
  const file = join(push.dataDir, 'svc.db')
  const db = openDb(file, push.now)
  try {
    push.prepare(db.sqlite)
    const pushed = await pushContents(store, db.sqlite, push)
    await pushCertificates(store, push.dataDir)
    beginUnchanged(db.sqlite)
    await pushDatabase(store, file, { ...push, timestamp: Date.parse(createdAt) })
    await writeMarker(push.dataDir, { store: id, number: 1, seen: 1, isWhole: true })
    return pushed
  } finally {
    db.close()
  }
}

/** From now on all of the database is in its file, and other programs wait before they write. */
function beginUnchanged(sqlite: Database): void {
  for (let tries = 0; tries < 5; tries += 1) {
    sqlite.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
    sqlite.run('BEGIN IMMEDIATE')
    if ((statSync(`${sqlite.filename}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return
    sqlite.run('ROLLBACK')
  }
  throw new PushError(`${sqlite.filename} is in use by another program: let that finish first`)
}

const ALREADY = 'the store holds a database already; nothing was changed'

/** The first number alone may be from a push that was ended before it said so: its bytes tell. */
async function refuseDatabase(store: ObjectStore): Promise<void> {
  const range = await listLog(store, 1)
  const isPushed = range === null || (range.first === 1 && range.sizes.length === 1)
  if (!isPushed || (await listBases(store)).length > 0) throw new PushError(ALREADY)
}

async function pushContents(store: ObjectStore, sqlite: Database, { dataDir, stop }: Push): Promise<Pushed> {
  const pushed: Pushed = { objects: 0, sentBytes: 0, lost: [] }
  const limits = { atOnce: AT_ONCE, weight: AT_ONCE, weigh: () => 1 }
  const results = readAhead(listContents(sqlite), limits, async (object) => {
    stop.throwIfAborted()
    return pushContent(store, object, join(dataDir, 'blobs', object.path), stop)
  })
  for await (const { sentBytes, lost } of results) {
    pushed.objects += 1
    pushed.sentBytes += sentBytes
    pushed.lost.push(...lost)
  }
  return pushed
}

async function pushContent(
  store: ObjectStore,
  { key, parts }: ContentObject,
  path: string,
  signal: AbortSignal,
): Promise<{ sentBytes: number; lost: string[] }> {
  const body = Bun.file(path)
  if (key === null) throw new Error(`${path} has no key in the store`)
  if (!(await body.exists())) {
    if (parts.every(({ isDamaged }) => isDamaged))
      return { sentBytes: 0, lost: parts.map(({ sha256 }) => sha256) }
    throw new PushError(`${path} is missing: svc check names what needs it`)
  }
  return { sentBytes: (await create(store, key, { body, signal })) ? body.size : 0, lost: [] }
}

async function pushDatabase(
  store: ObjectStore,
  file: string,
  { dataDir, newId, stop, timestamp }: Push & { timestamp: number },
): Promise<void> {
  stop.throwIfAborted()
  const path = join(dataDir, 'tmp', `push-${newId()}.ltx`)
  try {
    await writeWholeLtx(file, path, timestamp)
    await create(store, logKey(1), { body: Bun.file(path), signal: stop })
  } finally {
    await rm(path, { force: true })
  }
}

/** Whether it was sent. What is there already has to be the same, from a push of before. */
async function create(
  store: ObjectStore,
  key: string,
  { body, signal }: { body: Blob; signal: AbortSignal },
): Promise<boolean> {
  if (await isThere(store, key, body)) return false
  const { outcome } = await store.create(key, body, { epoch: EPOCH, signal })
  return outcome === 'created' || !(await isThere(store, key, body))
}

async function isThere(store: ObjectStore, key: string, body: Blob): Promise<boolean> {
  const found = await store.head(key)
  if (found === null) return false
  if (found.sizeBytes === body.size && found.sha256 === (await sha256Of(body))) return true
  throw new PushError(key === logKey(1) ? ALREADY : `the store holds another "${key}"`)
}

/** The contents of a data directory that a store has. */
export function removeLocalContents(dataDir: string): void {
  for (const folder of ['packs', 'files'])
    for (const name of namesIn(join(dataDir, 'blobs', folder)))
      rmSync(join(dataDir, 'blobs', folder, name), { recursive: true, force: true })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
