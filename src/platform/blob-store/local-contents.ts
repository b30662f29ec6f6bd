import { closeSync, openSync, readSync } from 'node:fs'
import type { BlobPlaces, StoredBlob } from './places.ts'

/** Reads contents from the packs and files of the data directory. */
export class LocalContents {
  readonly #places: BlobPlaces
  readonly #packs: PackDescriptors

  constructor(places: BlobPlaces) {
    this.#places = places
    this.#packs = new PackDescriptors(places)
  }

  /** A part of a content. Throws if its file is missing or too short. */
  readSync(blob: StoredBlob, start: number, end: number): Uint8Array {
    if (blob.pack !== null) return readExactly(this.#packs.get(blob.pack), blob, start, end)
    const descriptor = openSync(this.#places.of(blob), 'r')
    try {
      return readExactly(descriptor, blob, start, end)
    } finally {
      closeSync(descriptor)
    }
  }

  file(blob: StoredBlob): Blob {
    const whole = Bun.file(this.#places.of(blob))
    return blob.pack === null ? whole : whole.slice(blob.offset, blob.offset + blob.sizeBytes)
  }

  /** Before the pack is removed. */
  close(pack: string): void {
    this.#packs.close(pack)
  }

  closeAll(): void {
    this.#packs.closeAll()
  }
}

const OPEN_PACKS = 64

/** Keeps the most recently read packs open, so that a read is one system call. */
class PackDescriptors {
  readonly #places: BlobPlaces
  readonly #open = new Map<string, number>()

  constructor(places: BlobPlaces) {
    this.#places = places
  }

  get(pack: string): number {
    const descriptor = this.#open.get(pack) ?? openSync(this.#places.pack(pack), 'r')
    this.#open.delete(pack)
    this.#open.set(pack, descriptor)
    const [oldest] = this.#open.keys()
    if (this.#open.size > OPEN_PACKS && oldest !== undefined) this.close(oldest)
    return descriptor
  }

  close(pack: string): void {
    const descriptor = this.#open.get(pack)
    if (descriptor !== undefined) closeSync(descriptor)
    this.#open.delete(pack)
  }

  closeAll(): void {
    for (const pack of [...this.#open.keys()]) this.close(pack)
  }
}

function readExactly(descriptor: number, blob: StoredBlob, start: number, end: number): Uint8Array {
  const bytes = new Uint8Array(end - start)
  for (let done = 0; done < bytes.length; ) {
    const count = readSync(descriptor, bytes, done, bytes.length - done, blob.offset + start + done)
    if (count === 0)
      throw new Error(`Stored content ${blob.sha256} ends after ${start + done} of ${blob.sizeBytes} bytes`)
    done += count
  }
  return bytes
}
