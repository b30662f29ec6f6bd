import { AppError } from '../../domain/errors.ts'
import type { ByteStream } from '../byte-stream.ts'

/**
 * One file of an archive. `path` is unchecked, as the archive has it; validate it with `normalizeAssetPath`. Read the
 * body before asking for the next entry; an unread body is skipped.
 */
export type ArchiveEntry = {
  path: string
  sizeBytes: number
  body: ByteStream | Uint8Array
  /** A hard link, without bytes of its own: the entry that it names, unchecked too. */
  linkTo?: string
}

/** The most files, and the most bytes of unpacked contents, that an archive may contain. */
export type ArchiveLimits = { maxFiles: number; maxBytes: number }

/** Folders are not kept, but an archive of nothing but folders must end too. */
const MAX_FOLDERS = 100_000

/** Files up to this size are returned as one array: a stream for each would cost more than the bytes. */
export const WHOLE_BYTES = 64 * 1024

/** Checks the declared sizes of an archive before anything is unpacked. */
export class ArchiveBudget {
  readonly #limits: ArchiveLimits
  #files = 0
  #folders = 0
  #bytes = 0

  constructor(limits: ArchiveLimits) {
    this.#limits = limits
  }

  /** Whether `addFile` would accept it. */
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

/** A rejected entry. `why` completes the sentence that begins with its name. */
export function refusedEntry(path: string, why: string, cause?: unknown): AppError {
  const name = path.length > 200 ? `${path.slice(0, 200)}…` : path
  return new AppError('invalid', `Archive entry ${JSON.stringify(name)} ${why}`, { cause })
}
