import {
  ANSWER_FOLDER,
  answerKey,
  CERT_FOLDER,
  type CertKey,
  certFolder,
  certKey,
  certOfKey,
} from '../../domain/store-keys.ts'
import type { ObjectStore } from '../object-store.ts'
import { readAhead } from '../read-ahead.ts'
import { StoreError } from './error.ts'

type Options = { store: ObjectStore; epoch: () => number }

/** A chain and its key have a few KB. */
export const MAX_CERT_BYTES = 256 * 1024
const MAX_ANSWER_BYTES = 4 * 1024
const TRIES = 5
const AT_ONCE = { atOnce: 8, weight: 8, weigh: () => 1 }

/**
 * The files of `DATA_DIR/certs` in the object store, byte for byte. No object is written over: the newest one of a name counts.
 * So a machine that does not know yet that it is deposed hides nothing that its successor wrote, such as a certificate behind a
 * failure.
 */
export class CertObjects {
  readonly #store: ObjectStore
  readonly #epoch: () => number

  constructor({ store, epoch }: Options) {
    this.#store = store
    this.#epoch = epoch
  }

  /**
   * Gives each newest object to `write` that is not among the `known` ones, by file name, and adds it there. Again where a newer
   * one took its place meanwhile. Returns all names.
   */
  async fetch(
    known: Map<string, string>,
    write: (name: string, bytes: Uint8Array) => Promise<void>,
  ): Promise<Set<string>> {
    for (let tries = 1; ; tries += 1) {
      const newest = await this.newest()
      const missing = [...newest].filter(([name, key]) => known.get(name) !== key)
      let isWhole = true
      for await (const { name, key, bytes } of readAhead(missing, AT_ONCE, ([name, key]) =>
        this.read(key).then((bytes) => ({ name, key, bytes })),
      )) {
        isWhole &&= bytes !== null
        if (bytes === null) continue
        await write(name, bytes)
        known.set(name, key)
      }
      if (isWhole || tries === TRIES) return new Set(newest.keys())
    }
  }

  /** The key of the newest object of each file name. */
  async newest(): Promise<Map<string, string>> {
    const newest = new Map<string, string>()
    for await (const { key } of this.#store.list(CERT_FOLDER)) {
      const found = certOfKey(key)
      if (found !== null) newest.set(found.name, key)
    }
    return newest
  }

  /** Null: a newer one has taken its place. */
  async read(key: string): Promise<Uint8Array | null> {
    return (await this.#store.get(key, MAX_CERT_BYTES))?.bytes ?? null
  }

  async save(name: string, bytes: Uint8Array): Promise<void> {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const older = await this.#ownOf(name)
      const key = certKey({ name, epoch: this.#epoch(), number: numberAfter(older, this.#epoch()) })
      const { outcome } = await this.#store.create(key, bytes, { epoch: this.#epoch() })
      if (outcome === 'created') return this.#removeAll(older)
    }
    throw new StoreError('unreachable', `the object store did not take "${certFolder(name)}"`)
  }

  async remove(name: string): Promise<void> {
    await this.#removeAll(await this.#ownOf(name))
  }

  /** What any machine says for the host from now on. */
  async answer(host: string, token: string, text: string): Promise<void> {
    await this.#store.create(answerKey(host, token), new TextEncoder().encode(text), { epoch: this.#epoch() })
  }

  /** The keys of the answers that are to be given now. */
  async answers(): Promise<Set<string>> {
    const keys = new Set<string>()
    for await (const { key } of this.#store.list(ANSWER_FOLDER)) keys.add(key)
    return keys
  }

  async readAnswer(key: string): Promise<string | undefined> {
    const found = await this.#store.get(key, MAX_ANSWER_BYTES)
    return found === null ? undefined : new TextDecoder().decode(found.bytes)
  }

  async endAnswer(host: string, token: string): Promise<void> {
    await this.#store.delete(answerKey(host, token))
  }

  /** Those that a crash left. */
  async endAnswers(): Promise<void> {
    for (const key of await this.answers()) await this.#store.delete(key)
  }

  /** What a later epoch wrote is not ours to count or remove. */
  async #ownOf(name: string): Promise<CertKey[]> {
    const keys: CertKey[] = []
    for await (const { key } of this.#store.list(certFolder(name))) {
      const found = certOfKey(key)
      if (found !== null && found.epoch <= this.#epoch()) keys.push(found)
    }
    return keys
  }

  async #removeAll(keys: readonly CertKey[]): Promise<void> {
    for (const key of keys) await this.#store.delete(certKey(key))
  }
}

const numberAfter = (keys: readonly CertKey[], epoch: number): number =>
  Math.max(0, ...keys.filter((key) => key.epoch === epoch).map(({ number }) => number)) + 1
