import type { Context } from '../../../context.ts'
import { packKey } from '../../../domain/store-keys.ts'
import { hasPack } from './queries.ts'
import { noteRemoved } from './removed-objects.ts'

/** Notes the object of a pack that has no rows any more, in the transaction that took the last one. No row names it again. */
export function noteIfEmpty({ blobs, db, now }: Context, pack: string): void {
  if (blobs.remote !== null && !hasPack(db, pack)) noteRemoved(db, packKey(pack), now())
}
