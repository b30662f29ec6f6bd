import { type Migration, migrations } from '../../migrations/index.ts'
import { LATER_MIGRATION } from './rolling-upgrade.ts'

/** Loaded before a server, which then is one of a later version. */
;(migrations as Migration[]).push(LATER_MIGRATION)
