import { Database } from 'bun:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  ANSWER_FOLDER,
  BASE_FOLDER,
  certOfKey,
  FILE_FOLDER,
  LOG_FOLDER,
  logKey,
  numberOfBase,
  numberOfLog,
  PACK_FOLDER,
} from '../../domain/store-keys.ts'
import { type ObjectStore, StoreError } from '../../platform/object-store.ts'
import { readAhead } from '../../platform/read-ahead.ts'
import { checkObject, type Named } from '../replication/database-copy.ts'
import { numbersOf, withObject } from '../replication/fetch-log.ts'
import { LogError } from '../replication/log-error.ts'
import { lastOf, listBases, listLog } from '../replication/log-objects.ts'
import { copyDatabase } from '../replication/replica.ts'
import { untilStill } from '../replication/until-still.ts'
import { damagedCertificates } from './certificates.ts'
import { type ContentObject, listContents, neededBytes } from './contents.ts'
import { PartsCheck } from './parts-check.ts'

/** `note`: no damage. */
export type Finding = { kind: 'log' | 'database' | 'content' | 'certificate' | 'note'; detail: string }

/** Each is read as it comes, whatever its size. */
const AT_ONCE = { atOnce: 8, weight: 8, weigh: () => 1 }

type CheckOptions = {
  /** Contents are looked for, and not read. */
  isQuick: boolean
  /** For a copy of the database. */
  tmp: string
}

/**
 * Compares the store with itself: the log and its bases, the certificates, the database that the log is, and the contents that its
 * rows name.
 */
export async function* checkStore(
  store: ObjectStore,
  { isQuick, tmp }: CheckOptions,
): AsyncGenerator<Finding> {
  const folder = await mkdtemp(join(tmp, 'svc-store-check-'))
  try {
    yield* checkLog(store)
    if (!isQuick) yield* checkCertificates(store)
    const path = join(folder, 'svc.db')
    const copied = yield* found('database', () => copyDatabase(store, path))
    if (copied === undefined) return
    if (copied === null) yield* checkWithoutDatabase(store)
    else yield* checkCopy(store, path, isQuick)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Each object of the log and each base; what the newest state needs is read once more with the database. */
async function* checkLog(store: ObjectStore): AsyncGenerator<Finding> {
  const bases = await listBases(store)
  const range = yield* found('log', () => untilStill(() => listLog(store, 1)))
  const first = range?.first ?? 1
  if (
    range !== undefined &&
    range !== null &&
    first > 1 &&
    !bases.some(({ number }) => number >= first - 1 && number <= lastOf(range))
  )
    yield { kind: 'log', detail: `no base in "${BASE_FOLDER}" goes with a log that begins at ${first}` }
  const named = [
    ...bases.map(({ key, number }) => ({ key, first: 1, last: number })),
    ...(range ? [...numbersOf(range, 0)] : []).map((number) => ({
      key: logKey(number),
      first: number,
      last: number,
    })),
  ]
  for await (const one of readAhead(named, AT_ONCE, (object) => checkOne(store, object)))
    if (one !== null) yield one
}

async function checkOne(store: ObjectStore, named: Named): Promise<Finding | null> {
  try {
    await withObject(store, named, (pieces) => checkObject(named, pieces))
    return null
  } catch (error) {
    // What was listed may have been removed as old since; a gap is found by reading the database.
    if (error instanceof LogError && error.kind === 'missing') return null
    return asFinding('log', error)
  }
}

async function* checkCertificates(store: ObjectStore): AsyncGenerator<Finding> {
  for await (const { key, why } of damagedCertificates(store))
    yield { kind: 'certificate', detail: `"${key}" is damaged: ${why}` }
}

async function* checkWithoutDatabase(store: ObjectStore): AsyncGenerator<Finding> {
  const { size } = await listSizes(store)
  yield size === 0
    ? { kind: 'note', detail: 'the store holds no database yet' }
    : {
        kind: 'database',
        detail: `there is none, though there are ${size} objects of contents: run svc store push again`,
      }
  yield* listUnknown(store, new Set())
}

async function* checkCopy(store: ObjectStore, path: string, isQuick: boolean): AsyncGenerator<Finding> {
  const sqlite = new Database(path, { readwrite: true })
  try {
    const state = sqlite.query<{ quick_check: string }, []>('PRAGMA quick_check').get()?.quick_check
    if (state !== 'ok') {
      yield { kind: 'database', detail: state ?? 'it cannot be checked' }
      return
    }
    const sizes = await listSizes(store)
    const named = new Set<string>()
    const found = readAhead(listContents(sqlite), AT_ONCE, async (object) => {
      if (object.key !== null) named.add(object.key)
      return checkContent(store, object, { sizes, isQuick })
    })
    for await (const one of found) yield* one
    yield* listUnknown(store, named)
  } finally {
    sqlite.close()
  }
}

type Contents = { sizes: ReadonlyMap<string, number>; isQuick: boolean }

async function checkContent(
  store: ObjectStore,
  object: ContentObject,
  { sizes, isQuick }: Contents,
): Promise<Finding[]> {
  const { key, parts } = object
  const say = (detail: string): Finding[] => [{ kind: 'content', detail }]
  if (key === null) return say(`${parts[0]?.sha256} is in no object of the store`)
  const size = sizes.get(key) ?? (await store.head(key))?.sizeBytes
  if (size === undefined) return say(`"${key}" is missing, with ${count(parts.length, 'content')}`)
  const needed = neededBytes(object)
  if (size < needed || (object.path.startsWith('files') && size !== needed))
    return say(`"${key}" has ${size} bytes, and its contents need ${needed}`)
  if (isQuick) return []
  try {
    return (await readParts(store, key, object)).flatMap((sha256) =>
      say(`${sha256} in "${key}" is another content`),
    )
  } catch (error) {
    return [asFinding('content', error)]
  }
}

const readParts = (store: ObjectStore, key: string, object: ContentObject): Promise<string[]> =>
  withObject(store, { key }, async (pieces) => {
    const check = new PartsCheck(object)
    for await (const piece of pieces) check.push(piece)
    return check.end().map(({ sha256 }) => sha256)
  })

async function listSizes(store: ObjectStore): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for (const folder of [PACK_FOLDER, FILE_FOLDER])
    for await (const { key, sizeBytes } of store.list(folder)) sizes.set(key, sizeBytes)
  return sizes
}

/** Uploads on their way and what garbage collection has yet to take are among them. */
async function* listUnknown(store: ObjectStore, named: ReadonlySet<string>): AsyncGenerator<Finding> {
  for await (const { key } of store.list(''))
    if (!named.has(key) && !isOurs(key)) yield { kind: 'note', detail: `"${key}" belongs to nothing` }
}

const isOurs = (key: string): boolean =>
  key === 'svc.json' ||
  /^(beat\/(?:\d+|wanted)|probe\/.+)$/.test(key) ||
  certOfKey(key) !== null ||
  key.startsWith(ANSWER_FOLDER) ||
  (key.startsWith(LOG_FOLDER) && numberOfLog(key) !== null) ||
  (key.startsWith(BASE_FOLDER) && numberOfBase(key) !== null)

/** The result, or undefined after a finding. A store that does not answer is no finding. */
async function* found<T>(
  kind: Finding['kind'],
  work: () => Promise<T>,
): AsyncGenerator<Finding, T | undefined> {
  try {
    return await work()
  } catch (error) {
    yield asFinding(kind, error)
    return undefined
  }
}

function asFinding(kind: Finding['kind'], error: unknown): Finding {
  const isDamage =
    error instanceof LogError ||
    (error instanceof StoreError && (error.kind === 'damaged' || error.kind === 'too_large'))
  if (!isDamage) throw error
  return { kind, detail: error.message }
}

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`
