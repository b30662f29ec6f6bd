import type { Db } from '../../db/open.ts'

/** Without drizzle, which takes some milliseconds for its first query: every start runs this. */
export const hasAdmin = ({ sqlite }: Db): boolean =>
  sqlite.query("SELECT 1 FROM users WHERE role = 'admin' LIMIT 1").get() !== null
