import { type BackupDir, backupDir } from './backup-dir.ts'
import { byteSize, type Parsed, type PlainOption, text, wholeNumber } from './values.ts'

/** Settings besides serving: metrics, log retention, backups, webhooks, free disk, retention of deployments. */
export type UpkeepConfig = {
  metricsToken: string | null
  logRetentionDays: number
  backupDir: BackupDir | null
  backupEveryHours: number
  backupKeep: number
  /** Seconds to wait after each failed try of a delivery but the last. */
  webhookRetrySeconds: readonly number[]
  /** Null: a share of the disk. */
  minFreeDisk: number | null
  retentionGraceMinutes: number
}

export const UPKEEP_OPTIONS: { [K in keyof UpkeepConfig]: PlainOption<UpkeepConfig[K]> } = {
  metricsToken: {
    env: 'METRICS_TOKEN',
    help: 'bearer token for /metrics; without it only loopback may read them',
    shownDefault: 'none',
    secret: true,
    fallback: () => null,
    parse: text,
  },
  logRetentionDays: {
    env: 'LOG_RETENTION_DAYS',
    help: 'days to keep single requests; 0 keeps only the statistics',
    shownDefault: '7',
    fallback: () => 7,
    parse: wholeNumber(0, 365),
  },
  backupDir: {
    env: 'BACKUP_DIR',
    help: 'folder for scheduled backups, or s3://bucket/prefix/ of an object store',
    shownDefault: 'none: no scheduled backups',
    // What is no such address may hold a password.
    secret: true,
    fallback: () => null,
    parse: backupDir,
  },
  backupEveryHours: {
    env: 'BACKUP_EVERY_HOURS',
    help: 'hours between scheduled backups',
    shownDefault: '24',
    fallback: () => 24,
    parse: wholeNumber(1, 8760),
  },
  backupKeep: {
    env: 'BACKUP_KEEP',
    help: 'number of backups to keep in BACKUP_DIR',
    shownDefault: '7',
    fallback: () => 7,
    parse: wholeNumber(1, 10_000),
  },
  webhookRetrySeconds: {
    env: 'WEBHOOK_RETRY_SECONDS',
    help: 'four waits in seconds between the five tries of a webhook delivery or a mail',
    shownDefault: '10,60,600,3600',
    fallback: () => [10, 60, 600, 3600],
    parse: fourWaits,
  },
  minFreeDisk: {
    env: 'MIN_FREE_DISK',
    help: 'bytes of free disk below which uploads are refused; 0 for no such floor',
    shownDefault: '5 % of the disk, at most 1 GiB',
    fallback: () => null,
    parse: (text) => (text === '0' ? { value: 0 } : byteSize(text)),
  },
  retentionGraceMinutes: {
    env: 'RETENTION_GRACE_MINUTES',
    help: 'minutes for which retention leaves a deployment alone',
    shownDefault: '60',
    fallback: () => 60,
    parse: wholeNumber(0, 525_600),
  },
}

function fourWaits(text: string): Parsed<number[]> {
  const waits = text.split(',').map((one) => (/^ *\d{1,5} *$/.test(one) ? Number(one) : Number.NaN))
  return waits.length === 4 && waits.every((wait) => wait >= 0 && wait <= 86_400)
    ? { value: waits }
    : { expected: 'four whole numbers from 0 to 86400, such as 10,60,600,3600' }
}
