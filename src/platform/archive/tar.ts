import { AppError } from '../../domain/errors.ts'
import { ByteReader, type ByteStream } from '../byte-stream.ts'
import { ArchiveBudget, type ArchiveEntry, type ArchiveLimits, refusedEntry, WHOLE_BYTES } from './entry.ts'
import {
  BLOCK_BYTES,
  parsePaxRecords,
  parseTarHeader,
  type TarHeader,
  type TarOverrides,
  tarText,
} from './tar-header.ts'

const MAX_METADATA_BYTES = 1024 * 1024
const HARD_LINK = '1'
const NO_BYTES = new Uint8Array()

/** Why a type of entry is rejected. Other types, except files and folders, are rejected by their letter. */
const REFUSED: Readonly<Record<string, string>> = {
  '2': 'is a symbolic link; pack it with --dereference',
  '3': 'is a device',
  '4': 'is a device',
  '6': 'is a named pipe',
  S: 'is a sparse file; pack it without the option --sparse',
}

/**
 * Reads the files of a tar archive (ustar, GNU long names, pax) as it arrives. Skips folders. Hard links come as they are:
 * the caller, who knows the files before, resolves them and counts their bytes. Fails with `invalid` for symbolic links,
 * devices, damage and truncation, and with `too_large` over the limits. An empty input is an empty archive.
 */
export async function* readTar(bytes: ByteStream, limits: ArchiveLimits): AsyncGenerator<ArchiveEntry> {
  for await (const entries of readTarTogether(bytes, limits)) yield* entries
}

/** The same, but returns small files that arrived together as one list: thousands of them need no separate wait. */
export async function* readTarTogether(
  bytes: ByteStream,
  limits: ArchiveLimits,
): AsyncGenerator<ArchiveEntry[]> {
  const reader = new ByteReader(bytes)
  const budget = new ArchiveBudget(limits)
  try {
    for (let header = await nextFile(reader, budget); header; header = await nextFile(reader, budget)) {
      const { path, sizeBytes } = header
      budget.addFile(sizeBytes)
      if (header.type === HARD_LINK) {
        yield [{ path, sizeBytes, body: NO_BYTES, linkTo: header.linkPath }]
      } else if (sizeBytes <= WHOLE_BYTES) {
        const entry = { path, sizeBytes, body: await takeWhole(reader, sizeBytes) }
        const hasPadding = reader.takeArrived(padding(sizeBytes)) !== undefined
        yield hasPadding ? [entry, ...takeArrivedFiles(reader, budget)] : [entry]
        if (!hasPadding) await skip(reader, padding(sizeBytes))
      } else {
        const body = new TarBody(reader, header)
        yield [{ path, sizeBytes, body: body.read() }]
        await body.finish()
        await skip(reader, padding(sizeBytes))
      }
    }
    // Reads the remaining padding, so that the sender gets a response and not a broken connection.
    await reader.skip(Number.POSITIVE_INFINITY)
  } finally {
    await reader.close()
  }
}

/**
 * The small files that have arrived completely. Leaves incomplete and damaged ones to `nextFile`, which waits or
 * rejects.
 */
function takeArrivedFiles(reader: ByteReader, budget: ArchiveBudget): ArchiveEntry[] {
  const entries: ArchiveEntry[] = []
  for (let entry = takeArrivedFile(reader, budget); entry; entry = takeArrivedFile(reader, budget))
    entries.push(entry)
  return entries
}

function takeArrivedFile(reader: ByteReader, budget: ArchiveBudget): ArchiveEntry | undefined {
  const block = reader.peekArrived(BLOCK_BYTES)
  if (block === undefined) return undefined
  try {
    const header = parseTarHeader(block)
    if (header === undefined || isMetadata(header.type) || header.sizeBytes > WHOLE_BYTES) return undefined
    const { path, sizeBytes } = header
    const whole = reader.peekArrived(BLOCK_BYTES + sizeBytes + padding(sizeBytes))
    if (whole === undefined || header.type === HARD_LINK || !isFile(header) || !budget.allows(sizeBytes))
      return undefined
    budget.addFile(sizeBytes)
    reader.takeArrived(whole.length)
    return { path, sizeBytes, body: whole.subarray(BLOCK_BYTES, BLOCK_BYTES + sizeBytes) }
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** The next header of a file, with the overrides from the headers before it; undefined at the end of the archive. */
async function nextFile(reader: ByteReader, budget: ArchiveBudget): Promise<TarHeader | undefined> {
  let overrides: TarOverrides = {}
  while (true) {
    const block = reader.takeArrived(BLOCK_BYTES) ?? (await reader.take(BLOCK_BYTES))
    if (block.length === 0 && !reader.hasStarted) return undefined
    if (block.length < BLOCK_BYTES) throw cutOff()
    const header = parseTarHeader(block)
    if (header === undefined) return undefined
    if (isMetadata(header.type)) {
      overrides = { ...overrides, ...(await readMetadata(reader, header)) }
      continue
    }
    const entry = { ...header, ...overrides }
    overrides = {}
    // A link has no bytes in the archive, even if it states the size of the file that it is.
    if (entry.type === HARD_LINK) return { ...entry, sizeBytes: 0 }
    if (isFile(entry)) return entry
    budget.addFolder()
  }
}

/** False for a folder, which has no bytes whatever its size says. */
function isFile({ type, path }: TarHeader): boolean {
  if (type === '5') return false
  if (type === '0' || type === '7') return !path.endsWith('/')
  throw refusedEntry(path, REFUSED[type] ?? `is of a type that is not supported (${JSON.stringify(type)})`)
}

function isMetadata(type: string): boolean {
  return type === 'x' || type === 'g' || type === 'L' || type === 'K'
}

async function readMetadata(reader: ByteReader, header: TarHeader): Promise<TarOverrides> {
  if (header.sizeBytes > MAX_METADATA_BYTES) throw refusedEntry(header.path, 'is a header of over 1 MiB')
  const bytes = await takeWhole(reader, header.sizeBytes)
  await skip(reader, padding(header.sizeBytes))
  if (header.type === 'L') return { path: tarText(bytes) }
  if (header.type === 'K') return { linkPath: tarText(bytes) }
  const overrides = parsePaxRecords(bytes)
  if (header.type === 'g' && Object.keys(overrides).length > 0)
    throw new AppError(
      'invalid',
      'The tar archive gives one path or size for all entries, which makes no sense',
    )
  return overrides
}

/** The bytes of a larger file, passed on as they arrive. */
class TarBody {
  readonly #reader: ByteReader
  #left: number
  #isOver = false

  constructor(reader: ByteReader, header: TarHeader) {
    this.#reader = reader
    this.#left = header.sizeBytes
  }

  async *read(): AsyncGenerator<Uint8Array> {
    while (this.#left > 0) {
      if (this.#isOver) throw new Error('An archive entry was read after the next one was asked for')
      const piece = await this.#reader.takeSome(this.#left)
      if (piece.length === 0) throw cutOff()
      this.#left -= piece.length
      yield piece
    }
  }

  /** Skips the rest of the body. */
  async finish(): Promise<void> {
    await skip(this.#reader, this.#left)
    this.#isOver = true
  }
}

async function takeWhole(reader: ByteReader, size: number): Promise<Uint8Array> {
  const bytes = reader.takeArrived(size) ?? (await reader.take(size))
  if (bytes.length < size) throw cutOff()
  return bytes
}

async function skip(reader: ByteReader, size: number): Promise<void> {
  if (reader.takeArrived(size) === undefined && !(await reader.skip(size))) throw cutOff()
}

function padding(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES
}

function cutOff(): AppError {
  return new AppError('invalid', 'The tar archive ends too soon: a part of it is missing')
}
