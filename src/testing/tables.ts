import { is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import * as schema from '../db/schema.ts'
import * as audit from '../db/schema-audit.ts'
import * as cdn from '../db/schema-cdn.ts'
import * as contents from '../db/schema-contents.ts'
import * as domains from '../db/schema-domains.ts'
import * as files from '../db/schema-files.ts'
import * as machines from '../db/schema-machines.ts'
import * as notices from '../db/schema-notices.ts'
import * as records from '../db/schema-records.ts'
import * as releases from '../db/schema-releases.ts'
import * as rules from '../db/schema-rules.ts'
import * as schedules from '../db/schema-schedules.ts'
import * as upkeep from '../db/schema-upkeep.ts'
import * as webhooks from '../db/schema-webhooks.ts'

/** Every table that queries know, with the name of its variable. */
export const tables: { variable: string; table: SQLiteTable }[] = Object.entries({
  ...schema,
  ...audit,
  ...cdn,
  ...contents,
  ...domains,
  ...files,
  ...machines,
  ...notices,
  ...records,
  ...releases,
  ...rules,
  ...schedules,
  ...upkeep,
  ...webhooks,
}).flatMap(([variable, table]) => (is(table, SQLiteTable) ? [{ variable, table }] : []))
