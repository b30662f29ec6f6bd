import type { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Orm } from './open.ts'

export const createOrm = (sqlite: Database): Orm => drizzle(sqlite)
