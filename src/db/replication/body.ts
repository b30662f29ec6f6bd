import { rm } from 'node:fs/promises'
import { DurableFile } from '../../platform/durable-file.ts'
import { encodeLtx, LtxEncoder, type Page } from '../../platform/ltx/encode.ts'
import type { LtxHeader } from '../../platform/ltx/format.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import type { Body } from '../../platform/object-store.ts'

/** The body of an object, in memory or in a file that is `discard`ed at the end. */
export type ObjectBody = { body: Body; sizeBytes: number; discard(): Promise<void> }

/** More than this is put together in a file. */
const MAX_IN_MEMORY = 2 ** 20
/** Between two turns of others. */
const SLICE_BYTES = 256 * 1024

/** Pages are read as they are needed: they must stay where they are until this resolves. */
export async function ltxBody(
  header: LtxHeader,
  pages: Iterable<Page>,
  { count, file, stop }: { count: number; file: string; stop?: { readonly aborted: boolean } },
): Promise<ObjectBody> {
  if (count * header.pageSize > MAX_IN_MEMORY) return inFile(header, pages, file, stop)
  const body = encodeLtx(header, pages)
  return { body, sizeBytes: body.length, discard: async () => {} }
}

async function inFile(
  header: LtxHeader,
  pages: Iterable<Page>,
  path: string,
  stop: { readonly aborted: boolean } | undefined,
): Promise<ObjectBody> {
  const file = new DurableFile(path)
  try {
    await write(file, new LtxEncoder(header), pages, stop)
    await file.finish({ durable: false })
  } catch (error) {
    await file.remove()
    throw error
  }
  return { body: Bun.file(path), sizeBytes: file.sizeBytes, discard: () => rm(path, { force: true }) }
}

async function write(
  file: DurableFile,
  encoder: LtxEncoder,
  pages: Iterable<Page>,
  stop: { readonly aborted: boolean } | undefined,
): Promise<void> {
  await file.append(encoder.begin())
  let turnAt = SLICE_BYTES
  for (const page of pages) {
    const full = file.append(encoder.page(page))
    if (full !== undefined) await full
    if (file.sizeBytes < turnAt) continue
    turnAt = file.sizeBytes + SLICE_BYTES
    await nextTurn()
    if (stop?.aborted === true) throw new Error('stopped')
  }
  for (const part of encoder.end()) await file.append(part)
}
