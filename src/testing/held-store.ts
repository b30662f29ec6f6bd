import {
  type Created,
  type ListedObject,
  type ObjectHead,
  type ObjectStore,
  type StoredObject,
  StoreError,
  type StoreWrite,
} from '../platform/object-store.ts'

type Stored = { bytes: Uint8Array; writer: string; epoch: number; at: number }

/** No store takes what was signed longer ago. */
const SIGNED_MS = 15 * 60_000

/** A create that is on its way. One of its fates is called; `drop` and `lose` leave the client to ask again. */
export type HeldCreate = {
  key: string
  writer: string
  /** Nobody waits for its answer any more. It may get there all the same. */
  isLeft: boolean
  /** The store does it, and the client hears of it. */
  answer(): void
  /** The store does it, and the client does not hear of it. */
  lose(): void
  /** The store never sees it. */
  drop(): void
  /** The client takes it for lost and asks again, but it is still on its way. */
  delay(): void
  /** The client has asked for long enough. */
  giveUp(): void
}

/**
 * An object store in memory, whose creates wait until a test says what becomes of each, and in which order. What the client does
 * about unknown answers is done here as `object-store/create.ts` does it: it asks again, and reads back.
 */
export class HeldStore {
  readonly objects = new Map<string, Stored>()
  readonly held: HeldCreate[] = []
  honoursConditions = true
  readonly #created: (key: string, object: Stored) => void
  readonly #failsNow: () => boolean
  readonly #now: () => number

  /** `failsNow`: whether this reading gets no answer. */
  constructor(now: () => number, created: (key: string, object: Stored) => void, failsNow: () => boolean) {
    this.#now = now
    this.#created = created
    this.#failsNow = failsNow
  }

  isAwaited(writer: string): boolean {
    return this.held.some((one) => one.writer === writer && !one.isLeft)
  }

  client(writer: string): ObjectStore {
    const refuse = () => Promise.reject(new Error('not in this test'))
    return {
      writer,
      timeoutMs: 10_000,
      create: (key, body, write) => this.#hold(writer, key, body, write),
      get: async (key) => this.#read(key),
      open: async (key) => {
        const found = this.#read(key)
        return found && { ...found, sizeBytes: found.bytes.length, pieces: piecesOf(found.bytes) }
      },
      head: async (key) => headOf(this.#read(key)),
      list: (prefix, { after = '' } = {}) => this.#list(prefix, after),
      delete: async (key) => void this.objects.delete(key),
      probe: async () => {},
      put: refuse,
      upload: refuse,
      endUploads: refuse,
      getRange: refuse,
      createBucket: refuse,
    }
  }

  async #hold(writer: string, key: string, body: Uint8Array | Blob, write: StoreWrite): Promise<Created> {
    const bytes = body instanceof Uint8Array ? body.slice() : await body.bytes()
    write.signal?.throwIfAborted()
    const written = { bytes, writer, epoch: write.epoch }
    const { promise, resolve, reject } = Promise.withResolvers<Created>()
    const send = (): void => {
      const sentAt = this.#now()
      const does = (): Created => this.#create(key, { ...written, at: this.#now() })
      const isRefused = (): boolean => this.#now() - sentAt > SIGNED_MS
      const held: HeldCreate = {
        key,
        writer,
        isLeft: false,
        answer: () => (isRefused() ? held.drop() : this.#end(held, () => resolve(does()))),
        lose: () => (isRefused() ? held.drop() : this.#end(held, () => void does(), send)),
        drop: () => this.#end(held, () => {}, send),
        delay: () => {
          held.isLeft = true
          send()
        },
        giveUp: () => {
          held.isLeft = true
          reject(noAnswer())
        },
      }
      this.held.push(held)
      write.signal?.addEventListener('abort', () => {
        held.isLeft = true
        reject(noAnswer())
      })
    }
    send()
    return promise
  }

  #end(held: HeldCreate, does: () => void, again?: () => void): void {
    this.held.splice(this.held.indexOf(held), 1)
    does()
    if (!held.isLeft) again?.()
  }

  #create(key: string, object: Stored): Created {
    const found = this.objects.get(key)
    if (found !== undefined && !this.honoursConditions) throw new Error(`${key} was written over`)
    if (found === undefined) {
      this.objects.set(key, object)
      this.#created(key, object)
      return { outcome: 'created' }
    }
    if (found.writer === object.writer && Buffer.compare(found.bytes, object.bytes) === 0)
      return { outcome: 'created' }
    return { outcome: 'exists', writer: found.writer, epoch: found.epoch }
  }

  #read(key: string): StoredObject | null {
    if (this.#failsNow()) throw noAnswer()
    return this.objects.get(key) ?? null
  }

  async *#list(prefix: string, after: string): AsyncGenerator<ListedObject> {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    for (const key of keys) {
      const object = this.objects.get(key)
      if (object !== undefined) yield { key, sizeBytes: object.bytes.length, modifiedAt: 0 }
    }
  }
}

const noAnswer = () => new StoreError('unreachable', 'the object store did not answer')

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const headOf = (found: StoredObject | null): ObjectHead | null =>
  found && { ...found, sizeBytes: found.bytes.length, sha256: null, modifiedAt: 0 }
