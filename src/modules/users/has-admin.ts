import type { Db } from '../../db/open.ts'

/** By hand, as every start asks it: drizzle takes some milliseconds for its first query. */
export const hasAdmin = ({ sqlite }: Db): boolean =>
  sqlite.query("SELECT 1 FROM users WHERE role = 'admin' LIMIT 1").get() !== null
