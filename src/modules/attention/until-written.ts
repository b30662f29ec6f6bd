import type { Db } from '../../db/open.ts'
import type { Found, ProjectCause } from './cause.ts'

/** What was found last, for which projects, and `db.writes` at that time. */
type Kept = { writes: number; asked: string; found: Found[] }

/**
 * A cause that depends on nothing but the database: what it found is kept until something is written, because the first page
 * asks of every project each time it is opened.
 */
export function untilWritten(cause: ProjectCause): ProjectCause {
  const keptOf = new WeakMap<Db, Kept>()
  return (ctx, projectIds) => {
    const asked = projectIds.join()
    const last = keptOf.get(ctx.db)
    if (last?.writes === ctx.db.writes && last.asked === asked) return last.found
    const { writes } = ctx.db
    const found = cause(ctx, projectIds)
    keptOf.set(ctx.db, { writes, asked, found })
    return found
  }
}
