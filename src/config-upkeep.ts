import { type PlainOption, text, wholeNumber } from './config-values.ts'

/** What there is beside serving: figures, logs that are kept, backups. */
export type UpkeepConfig = {
  metricsToken: string | null
  logRetentionDays: number
  backupDir: string | null
  backupEveryHours: number
  backupKeep: number
}

export const UPKEEP_OPTIONS: { [K in keyof UpkeepConfig]: PlainOption<UpkeepConfig[K]> } = {
  metricsToken: {
    env: 'METRICS_TOKEN',
    help: 'bearer token of /metrics; without it only loopback may read them',
    shownDefault: 'none',
    secret: true,
    fallback: () => null,
    parse: text,
  },
  logRetentionDays: {
    env: 'LOG_RETENTION_DAYS',
    help: 'days that single requests are kept; 0 keeps only what is counted from them',
    shownDefault: '7',
    fallback: () => 7,
    parse: wholeNumber(0, 365),
  },
  backupDir: {
    env: 'BACKUP_DIR',
    help: 'folder that backups are written to by themselves',
    shownDefault: 'none: no scheduled backups',
    fallback: () => null,
    parse: text,
  },
  backupEveryHours: {
    env: 'BACKUP_EVERY_HOURS',
    help: 'hours from one scheduled backup to the next',
    shownDefault: '24',
    fallback: () => 24,
    parse: wholeNumber(1, 8760),
  },
  backupKeep: {
    env: 'BACKUP_KEEP',
    help: 'newest backups that stay in BACKUP_DIR',
    shownDefault: '7',
    fallback: () => 7,
    parse: wholeNumber(1, 10_000),
  },
}
