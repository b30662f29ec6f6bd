import { Database } from 'bun:sqlite'
import { closeSync, copyFileSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, openDb } from '../db/open.ts'
import { type Shipper, type ShippingOptions, startShipping } from '../db/replication/shipper.ts'
import { numberOfBase, numberOfLog } from '../domain/store-keys.ts'
import { createLog } from '../platform/log.ts'
import { applyLtx } from '../platform/ltx/apply.ts'
import { openObjectStore } from '../platform/object-store.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from './object-server.ts'

/** A database on the disk whose log goes to a store on loopback. */
export class Shipping {
  readonly server: ObjectServer
  readonly #folders: string[] = []
  readonly marks: number[] = []
  readonly lines: string[] = []
  deposed = 0
  db: Db
  shipper: Shipper
  readonly #own: Partial<ShippingOptions>
  #starts = 0

  constructor(own: Partial<ShippingOptions> = {}) {
    this.server = startObjectServer()
    this.#own = own
    this.#newFolder()
    this.db = this.#open()
    this.shipper = this.#ship(0)
  }

  #newFolder(): void {
    this.#folders.push(mkdtempSync(join(tmpdir(), 'svc-shipping-')))
  }

  get folder(): string {
    return this.#folders.at(-1) ?? ''
  }
  get file(): string {
    return join(this.folder, 'svc.db')
  }

  /** What the store is asked with. */
  store() {
    this.#starts += 1
    return openObjectStore({
      ...STORE_KEYS,
      bucket: 'bucket',
      prefix: '',
      endpoint: this.server.endpoint,
      timeoutMs: 1_000,
      now: Date.now,
      writer: `w${this.#starts}`,
    })
  }

  #open(): Db {
    const db = openDb(this.file, 0, { isShipped: true })
    db.sqlite.run('CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v BLOB)')
    return db
  }

  #ship(number: number): Shipper {
    const write = (line: string) => this.lines.push(line)
    return startShipping(this.db, {
      store: this.store(),
      epoch: 1,
      now: Date.now,
      log: createLog({ level: 'info', format: 'json', now: Date.now, write }),
      markShipped: (number) => void this.marks.push(number),
      onDeposed: () => {
        this.deposed += 1
      },
      number,
      ...this.#own,
    })
  }

  /**
   * As after kill -9: nothing of what was open is closed, and the files as they are now are copied without the log. From there it
   * goes on as a start does, from the last mark on.
   */
  async crash(): Promise<void> {
    this.shipper.close()
    await this.#untilQuiet()
    const from = this.file
    const marked = this.marks.at(-1) ?? 0
    this.#newFolder()
    copyFileSync(from, this.file)
    await this.apply(this.file, marked)
    this.db = this.#open()
    const end = this.numbers().at(-1) ?? 0
    this.marks.push(end)
    this.shipper = this.#ship(end)
  }

  /** What was on its way is there, or never will be. */
  async #untilQuiet(): Promise<void> {
    for (let before = -1; before !== this.server.objects.size; ) {
      before = this.server.objects.size
      await Bun.sleep(30)
    }
  }

  /** Objects of the log, in order. */
  numbers(): number[] {
    return this.#numbersOf(numberOfLog)
  }
  bases(): number[] {
    return this.#numbersOf(numberOfBase)
  }
  #numbersOf(numberOf: (key: string) => number | null): number[] {
    return [...this.server.objects.keys()].flatMap((key) => numberOf(key) ?? []).sort((a, b) => a - b)
  }

  /** Puts what the store has after a number into a file. */
  async apply(file: string, after: number, last = Number.POSITIVE_INFINITY): Promise<void> {
    const target = openSync(file, 'r+')
    const keys = [...this.server.objects.keys()].sort()
    for (const key of keys) {
      const number = numberOfLog(key)
      if (number === null || number <= after || number > last) continue
      await applyLtx(this.#object(key), target)
    }
    closeSync(target)
  }

  async *#object(key: string): AsyncGenerator<Uint8Array> {
    const object = this.server.objects.get(key)
    if (object !== undefined) yield object.bytes
  }

  /** Whether this file has each row of the database. */
  rowsOf(file: string): unknown[] {
    const copy = new Database(file)
    try {
      const [{ integrity_check: state } = {}] = copy
        .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
        .all()
      if (state !== 'ok') throw new Error(`${file}: ${state}`)
      return copy.query('SELECT id, length(v) AS size, hex(substr(v, 1, 40)) AS v FROM t ORDER BY id').all()
    } finally {
      copy.close()
    }
  }

  rows(): unknown[] {
    return this.db.sqlite
      .query('SELECT id, length(v) AS size, hex(substr(v, 1, 40)) AS v FROM t ORDER BY id')
      .all()
  }

  /** The database, page by page, as SQLite sees it. */
  bytes(): Buffer {
    const copy = join(this.folder, 'bytes.db')
    copyFileSync(this.file, copy)
    copyFileSync(`${this.file}-wal`, `${copy}-wal`)
    const db = new Database(copy)
    db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
    db.close()
    const bytes = readFileSync(copy)
    rmSync(copy)
    return bytes
  }

  /** A new file with what the store has from a base (0: the beginning of the log) up to a number. */
  async restored(base: number, last?: number): Promise<string> {
    const file = join(this.folder, 'restored.db')
    rmSync(file, { force: true })
    closeSync(openSync(file, 'w'))
    if (base > 0) {
      const key = [...this.server.objects.keys()].find((name) => numberOfBase(name) === base) ?? ''
      const target = openSync(file, 'r+')
      await applyLtx(this.#object(key), target)
      closeSync(target)
    }
    await this.apply(file, base, last)
    return file
  }

  insert(bytes = 100): void {
    this.db.sqlite.query('INSERT INTO t (v) VALUES (randomblob(?))').run(bytes)
  }

  async end(): Promise<void> {
    await this.shipper.stop()
    this.db.close()
    await this.server.stop()
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true })
  }
}
