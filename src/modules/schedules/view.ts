import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import { scheduledRule } from '../../domain/schedule.ts'
import type { ExportedSchedule, ScheduleView } from './model.ts'
import type { ScheduleRecord } from './queries.ts'

export function toScheduleView({ set, rule, ...row }: ScheduleRecord): ScheduleView {
  return {
    id: row.id,
    projectId: row.projectId,
    ruleSetId: row.ruleSetId,
    ruleId: row.ruleId,
    rule: scheduledRule({ method: row.method, pathPattern: rule.pathPattern }),
    name: row.name,
    cron: row.cron,
    timezone: row.timezone,
    isEnabled: row.isEnabled,
    catchUp: row.catchUp,
    description: row.description,
    nextRunAt: isoTimeOrNull(row.nextRunAt),
    lastRunAt: isoTimeOrNull(row.lastRunAt),
    lastStatus: row.lastStatus,
    lastError: row.lastError,
    lastDurationMs: row.lastDurationMs,
    isRunning: row.firedAt !== null,
    source:
      row.isPushed && set !== null
        ? { repo: set.repo, path: set.path, gitSha: set.gitSha, syncedAt: isoTimeOrNull(set.syncedAt) }
        : null,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

export const toExportedSchedule = ({ rule, ...row }: ScheduleRecord): ExportedSchedule => ({
  name: row.name,
  cron: row.cron,
  timezone: row.timezone,
  rule: scheduledRule({ method: row.method, pathPattern: rule.pathPattern }),
  isEnabled: row.isEnabled,
  catchUp: row.catchUp,
  description: row.description,
})

/** For the audit log. */
export const auditOf = ({ name, cron, timezone, ruleId, isEnabled, catchUp, description }: Audited) => ({
  name,
  cron,
  timezone,
  ruleId,
  isEnabled,
  catchUp,
  description,
})
type Audited = Pick<
  ScheduleRecord,
  'name' | 'cron' | 'timezone' | 'ruleId' | 'isEnabled' | 'catchUp' | 'description'
>
