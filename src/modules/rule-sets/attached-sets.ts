import type { DbOrTx } from '../../db/open.ts'
import { attach, findSet, listSetsOfAlias } from './queries.ts'

/** The sets attached to an alias, in the order in which they are tried. */
export const listSetIdsOfAlias = (db: DbOrTx, aliasId: string): string[] =>
  listSetsOfAlias(db, aliasId).map(({ id }) => id)

export const isSetThere = (db: DbOrTx, id: string): boolean => findSet(db, id) !== undefined

/** Attaches those that still exist again, in this order, to an alias that has come back. */
export function attachAgain(db: DbOrTx, aliasId: string, setIds: readonly string[]): void {
  for (const id of setIds) if (findSet(db, id) !== undefined) attach(db, aliasId, id)
}
