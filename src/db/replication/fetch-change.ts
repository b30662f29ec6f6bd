import { logKey } from '../../domain/store-keys.ts'
import { LtxDecoder } from '../../platform/ltx/decode.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { asDamage, type Named, type Pieces, requireNamed } from './database-copy.ts'
import type { Change } from './followed-file.ts'
import { damaged } from './log-error.ts'
import { PageSpool } from './page-spool.ts'

/** Between two turns of others. */
const SLICE_BYTES = 128 * 1024

/** Who wrote an object of the log, and how large it is: another object under the same number is of another log. */
export type Identity = { writer: string | null; epoch: number | null; sizeBytes: number | null }
export type Fetched = Change & { identity: Identity }

type FetchOptions = { store: ObjectStore; spool: string; pageSize: number; signal: AbortSignal }

/** The object of this number, read to its end and known to be good; null where the store has none yet. */
export async function fetchChange(
  number: number,
  { store, spool, pageSize, signal }: FetchOptions,
): Promise<Fetched | null> {
  const key = logKey(number)
  const opened = await store.open(key, { patienceMs: 0, signal })
  if (opened === null) return null
  const change = await readChange({ key, first: number, last: number }, opened.pieces, { spool, pageSize })
  const { writer, epoch, sizeBytes } = opened
  return { ...change, identity: { writer, epoch, sizeBytes } }
}

/** Throws `LogError` for what is damaged, cut, or of another database. */
async function readChange(
  named: Named,
  pieces: Pieces,
  { spool, pageSize }: Pick<FetchOptions, 'spool' | 'pageSize'>,
): Promise<Change> {
  const pages = new PageSpool(spool, pageSize)
  const decoder = new LtxDecoder({
    header: (header) => {
      requireNamed(named, header)
      if (header.pageSize !== pageSize)
        throw damaged(named.key, `its pages have ${header.pageSize} bytes, and those before ${pageSize}`)
    },
    page: (page) => pages.add(page),
  })
  try {
    for await (const slice of slicesOf(pieces)) await asDamage(named.key, async () => decoder.push(slice))
    const header = await asDamage(named.key, async () => decoder.end())
    return { header, pages }
  } catch (error) {
    pages.discard()
    throw error
  }
}

async function* slicesOf(pieces: Pieces): AsyncGenerator<Uint8Array> {
  let left = SLICE_BYTES
  for await (const piece of pieces)
    for (let at = 0; at < piece.length; ) {
      const slice = piece.subarray(at, at + left)
      at += slice.length
      left -= slice.length
      yield slice
      if (left > 0) continue
      left = SLICE_BYTES
      await nextTurn()
    }
}
