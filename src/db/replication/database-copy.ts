import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { applyLtx } from '../../platform/ltx/apply.ts'
import { LtxDecoder } from '../../platform/ltx/decode.ts'
import { LtxError, type LtxHeader } from '../../platform/ltx/format.ts'
import { handOverOpen } from '../../platform/owner.ts'
import { pageSizeOf } from './file-header.ts'
import { damaged } from './log-error.ts'

/** Bytes of an object, as often as they are asked for. */
export type Pieces = AsyncIterable<Uint8Array>
/** Which transactions the object's name says that it holds. */
export type Named = { key: string; first: number; last: number }

/** A database file that nobody else reads, into which objects of the log are put in order. */
export class DatabaseCopy {
  readonly #path: string
  readonly #fd: number
  /** 0 until the first object. */
  #pageSize: number

  private constructor(path: string, fd: number, pageSize: number) {
    this.#path = path
    this.#fd = fd
    this.#pageSize = pageSize
  }

  static create(path: string): DatabaseCopy {
    const fd = openSync(path, 'w+', 0o600)
    handOverOpen(fd)
    return new DatabaseCopy(path, fd, 0)
  }

  /** Null where there is no file, or none that begins as a database. */
  static open(path: string): DatabaseCopy | null {
    let fd: number
    try {
      fd = openSync(path, 'r+')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
      throw error
    }
    const pageSize = pageSizeOf(fd)
    if (pageSize !== null) return new DatabaseCopy(path, fd, pageSize)
    closeSync(fd)
    return null
  }

  /** Puts a whole database into the new file, as it comes: after an error the file is of no use. */
  async begin(named: Named, pieces: Pieces): Promise<void> {
    const header = await asDamage(named.key, () => applyLtx(pieces, this.#fd))
    requireNamed(named, header)
    this.#pageSize = header.pageSize
  }

  /** Puts in an object whose bytes are at hand, once all of it is known to be good. */
  async apply(named: Named, bytes: Uint8Array): Promise<void> {
    await this.#applyChecked(named, () => oneOf(bytes))
  }

  /** The same for an object of any size, which waits in a file until it is known to be good. */
  async applyLarge(named: Named, pieces: Pieces): Promise<void> {
    const path = `${this.#path}-object`
    const spool = openSync(path, 'w+', 0o600)
    handOverOpen(spool)
    try {
      for await (const piece of checkedAsTheyCome(named.key, pieces)) writeSync(spool, piece)
      await this.#applyChecked(named, () => piecesOf(spool))
    } finally {
      closeSync(spool)
      rmSync(path, { force: true })
    }
  }

  sync(): void {
    fsyncSync(this.#fd)
  }

  close(): void {
    closeSync(this.#fd)
  }

  async #applyChecked(named: Named, read: () => Pieces): Promise<void> {
    const header = await asDamage(named.key, () => checkLtx(read()))
    requireNamed(named, header)
    if (header.pageSize !== this.#pageSize)
      throw damaged(named.key, `its pages have ${header.pageSize} bytes, and those before ${this.#pageSize}`)
    await applyLtx(read(), this.#fd)
  }
}

/** Reads an object to its end. Throws `LogError` where it is damaged or not what its name says. */
export async function checkObject(named: Named, pieces: Pieces): Promise<LtxHeader> {
  const header = await asDamage(named.key, () => checkLtx(pieces))
  requireNamed(named, header)
  return header
}

async function checkLtx(pieces: Pieces): Promise<LtxHeader> {
  const decoder = new LtxDecoder({ header() {}, page() {} })
  for await (const piece of pieces) decoder.push(piece)
  return decoder.end()
}

/** What is no LTX file at all ends at its first bytes, and does not fill the disk. */
async function* checkedAsTheyCome(key: string, pieces: Pieces): AsyncGenerator<Uint8Array> {
  const decoder = new LtxDecoder({ header() {}, page() {} })
  for await (const piece of pieces) {
    await asDamage(key, async () => decoder.push(piece))
    yield piece
  }
}

/** What an object holds that is no LTX file, or a damaged one. */
export async function asDamage<T>(key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof LtxError ? damaged(key, error.message) : error
  }
}

export function requireNamed({ key, first, last }: Named, header: LtxHeader): void {
  if (header.first !== first || header.last !== last)
    throw damaged(key, `it holds the transactions ${header.first} to ${header.last}`)
}

async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const READ_BYTES = 256 * 1024

async function* piecesOf(fd: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const bytes = new Uint8Array(READ_BYTES)
    const count = readSync(fd, bytes, 0, READ_BYTES, at)
    if (count === 0) return
    at += count
    yield bytes.subarray(0, count)
  }
}
