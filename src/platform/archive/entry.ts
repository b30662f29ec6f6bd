import { AppError } from '../../domain/errors.ts'
import type { ByteStream } from '../byte-stream.ts'

/**
 * One file of an archive. `path` is as it stands there: what it may be is for `normalizeAssetPath` to say. The body is
 * to be read before the next entry is asked for; unread, it is passed over.
 */
export type ArchiveEntry = { path: string; sizeBytes: number; body: ByteStream | Uint8Array }

/** Files, and bytes of their contents once unpacked, that an archive may hold. */
export type ArchiveLimits = { maxFiles: number; maxBytes: number }

/** Folders are not kept, but an archive of nothing else must end too. */
const MAX_FOLDERS = 100_000

/** Files up to this size are handed out as one array: a stream each would cost more than the bytes. */
export const WHOLE_BYTES = 64 * 1024

/** Counts what an archive declares before any of it is unpacked. */
export class ArchiveBudget {
  readonly #limits: ArchiveLimits
  #files = 0
  #folders = 0
  #bytes = 0

  constructor(limits: ArchiveLimits) {
    this.#limits = limits
  }

  /** Whether `addFile` would take it. */
  allows(sizeBytes: number): boolean {
    return this.#files < this.#limits.maxFiles && this.#bytes + sizeBytes <= this.#limits.maxBytes
  }

  addFile(sizeBytes: number): void {
    const { maxFiles, maxBytes } = this.#limits
    this.#files += 1
    this.#bytes += sizeBytes
    if (this.#files > maxFiles) throw tooMuch(`more than the ${maxFiles} files allowed`)
    if (this.#bytes > maxBytes) throw tooMuch(`more than the ${maxBytes} bytes allowed, unpacked`)
  }

  addFolder(): void {
    this.#folders += 1
    if (this.#folders > MAX_FOLDERS) throw tooMuch(`more than ${MAX_FOLDERS} folders`)
  }
}

function tooMuch(what: string): AppError {
  return new AppError('too_large', `The archive holds ${what}`)
}

/** An entry that is refused: `why` ends the sentence that names it. */
export function refusedEntry(path: string, why: string, cause?: unknown): AppError {
  const name = path.length > 200 ? `${path.slice(0, 200)}…` : path
  return new AppError('invalid', `Archive entry ${JSON.stringify(name)} ${why}`, { cause })
}
