import type { Database } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'

export const createOrm = (sqlite: Database): BunSQLiteDatabase => drizzle(sqlite)
