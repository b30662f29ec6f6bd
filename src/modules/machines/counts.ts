import type { Context, Machine } from '../../context.ts'
import { countTakeovers } from './queries.ts'

export { forwardCounts } from './forward-counts.ts'

/** How often this process became the primary. */
export const takeovers = ({ db }: Context, { store }: Machine): number => countTakeovers(db, store.writer)
