import type { Context } from '../context.ts'
import { hasTrait, TRAIT, UNKNOWN_TRAITS } from '../domain/content-traits.ts'
import {
  contentTypeOf,
  decodedTypeOf,
  dependsOnBytes,
  type StoredCoded,
  storedCodedOf,
} from '../domain/content-type.ts'
import { isBrotliBlob, type KnownBlob, traitsOfBlob } from '../modules/deployments/traits.ts'

/** `coding`: how the stored bytes are compressed, whatever a request accepts. */
export type SentAs = { contentType: string; coding: 'gzip' | 'br' | null }

/** Where a file is sent from. `hasFile` takes a path on the site. */
export type SentFrom = { ctx: Context; hasFile: (path: string) => boolean }

/** How a file's bytes are sent, by its path, its neighbours and what the bytes say. contract 12.3. */
export function sentAs({ ctx, hasFile }: SentFrom, path: string, blob: KnownBlob): SentAs {
  const coded = storedCodedOf(path)
  if (coded !== undefined && !hasFile(coded.innerPath ?? '') && isCodedSo(ctx, blob, coded))
    return { contentType: decodedTypeOf(path, coded), coding: coded.coding }
  const traits = dependsOnBytes(path) ? traitsOfBlob(ctx, blob) : UNKNOWN_TRAITS
  return { contentType: contentTypeOf(path, traits), coding: null }
}

const isCodedSo = (ctx: Context, blob: KnownBlob, { coding }: StoredCoded): boolean =>
  coding === 'br' ? isBrotliBlob(ctx, blob) : hasTrait(traitsOfBlob(ctx, blob), TRAIT.gzip)
