import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DurableFile, syncFolder } from './durable-file.ts'
import { makeFolder } from './owner.ts'

/** The files of `DATA_DIR/certs`, written atomically. */
export class CertFolder {
  readonly #dataDir: string

  constructor(dataDir: string) {
    this.#dataDir = dataDir
    for (const folder of ['certs', 'tmp']) makeFolder(join(dataDir, folder))
  }

  names(): string[] {
    return readdirSync(this.#path)
      .filter((name) => /^(host|account)-.+\.json$/.test(name))
      .sort()
  }

  /** Also what somebody else put there. */
  files(): string[] {
    return readdirSync(this.#path, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => name)
      .sort()
  }

  read(name: string): Buffer {
    return readFileSync(join(this.#path, name))
  }

  /** The draft lies outside `certs/`, so that a backup never includes half a file. */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    const draft = join(this.#dataDir, 'tmp', `certs-${name}`)
    const file = new DurableFile(draft)
    await file.append(bytes)
    await file.finish({ durable: true })
    renameSync(draft, join(this.#path, name))
    await syncFolder(this.#path)
  }

  async remove(name: string): Promise<void> {
    rmSync(join(this.#path, name), { force: true })
    await syncFolder(this.#path)
  }

  get #path(): string {
    return join(this.#dataDir, 'certs')
  }
}
