import type { Context, RequestFacts } from '../../context.ts'
import { DURATION_BUCKETS_MS, type RequestCounts } from '../../db/request-log.ts'
import { AppError } from '../../domain/errors.ts'
import { errorResponse } from '../../http/error-response.ts'
import { reserveBytes } from '../../platform/reserve.ts'
import { equalsInConstantTime } from '../../platform/tokens.ts'
import { previewCount } from '../aliases/previews.ts'
import { countBackupFailures, lastBackup, newestBackupAt } from '../backups/service.ts'
import { purgeCounts } from '../cdn/counts.ts'
import { cdnState } from '../cdn/service.ts'
import { sumTotals } from '../files/usage.ts'
import { countWaitingMails, mailCounts } from '../notices/counts.ts'
import { releaseCounts } from '../releases/counts.ts'
import { retentionCounts } from '../retention/counts.ts'
import { countSchedules, scheduleRunCounts } from '../schedules/counts.ts'
import { diskSpace } from '../storage/floor.ts'
import { storedContents } from '../storage/service.ts'
import { undoCounts } from '../undo/counts.ts'
import { countWaiting, deliveryCounts } from '../webhooks/counts.ts'
import { machineMetrics } from './machine.ts'
import { countThings } from './queries.ts'
import { byResult, counter, gauge, histogram, type Metric, metricsText, PROMETHEUS_TYPE } from './text.ts'

export const METRICS_PATH = '/metrics'

/** `/metrics` of the admin host: for clients with METRICS_TOKEN, and for this machine itself. contract §11. */
export async function metricsAnswer(ctx: Context, request: Request, facts: RequestFacts): Promise<Response> {
  if (!mayRead(ctx, request, facts))
    return errorResponse(
      new AppError('unauthenticated', 'Send METRICS_TOKEN as bearer token, or ask from this machine', {
        headers: { 'www-authenticate': 'Bearer' },
      }),
    )
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return errorResponse(
      new AppError('method_not_allowed', 'Metrics are read with GET', { headers: { allow: 'GET, HEAD' } }),
    )
  const text = metricsText(await collect(ctx))
  return new Response(text, {
    headers: {
      'content-type': PROMETHEUS_TYPE,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}

function mayRead({ config }: Context, request: Request, { isDirectLoopback }: RequestFacts): boolean {
  if (isDirectLoopback) return true
  const sent = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
  return config.metricsToken !== null && sent !== undefined && equalsInConstantTime(sent, config.metricsToken)
}

async function collect(ctx: Context): Promise<Metric[]> {
  const version = {
    ...gauge('svc_info', 'Version', 1),
    samples: [{ labels: { version: ctx.version }, value: 1 }],
  }
  return [
    version,
    gauge('svc_start_time_seconds', 'When the process started', ctx.startedAt / 1000),
    ...processMetrics(),
    ...requestMetrics(ctx.requestLog.counts()),
    ...bodyMetrics(ctx),
    ...thingMetrics(ctx),
    ...storageMetrics(ctx),
    ...certificateMetrics(ctx),
    ...(await backupMetrics(ctx)),
    ...webhookMetrics(ctx),
    ...mailMetrics(ctx),
    ...cdnMetrics(ctx),
    ...machineMetrics(ctx),
    releaseMetric(ctx),
    counter(
      'svc_retention_removed_total',
      'Deployments that retention removed',
      retentionCounts(ctx).removed,
    ),
    ...scheduleMetrics(ctx),
    counter('svc_undos_total', 'Changes that were undone', undoCounts(ctx).undone),
  ]
}

function scheduleMetrics(ctx: Context): Metric[] {
  const samples = Object.entries(scheduleRunCounts(ctx)).map(([status, value]) => ({
    labels: { status },
    value,
  }))
  return [
    gauge('svc_schedules', 'Schedules', countSchedules(ctx)),
    {
      ...counter('svc_schedule_runs_total', 'Times at which schedules fired, by what became of them', 0),
      samples,
    },
  ]
}

function releaseMetric(ctx: Context): Metric {
  const samples = Object.entries(releaseCounts(ctx)).map(([result, value]) => ({ labels: { result }, value }))
  return { ...counter('svc_releases_total', 'Uploads that named an alias, by what became of it', 0), samples }
}

function bodyMetrics({ bodies }: Context): Metric[] {
  const samples = Object.entries(bodies.refusals).map(([reason, value]) => ({ labels: { reason }, value }))
  const help = 'Held request bodies that were refused, by reason'
  return [
    gauge('svc_buffered_body_bytes', 'Bytes of the request bodies that are held', bodies.usedBytes),
    { ...counter('svc_buffered_body_refusals_total', help, 0), samples },
  ]
}

function thingMetrics(ctx: Context): Metric[] {
  const { projects, deployments, users, sessions, suspendedUsers, suspendedKeys } = countThings(ctx.db)
  return [
    gauge('svc_projects', 'Projects', projects),
    gauge('svc_deployments', 'Deployments', deployments),
    gauge('svc_previews', 'Previews that have not ended', previewCount(ctx)),
    gauge('svc_users', 'Accounts', users),
    gauge('svc_users_suspended', 'Accounts that are suspended', suspendedUsers),
    gauge('svc_sessions', 'Sessions that have not ended', sessions),
    gauge('svc_api_keys_suspended', 'API keys that wait to be taken over or revoked', suspendedKeys),
  ]
}

function storageMetrics(ctx: Context): Metric[] {
  const files = sumTotals(ctx.db)
  const { contents, bytes } = storedContents(ctx)
  const { freeBytes, totalBytes, floorBytes } = diskSpace(ctx)
  return [
    gauge('svc_contents', 'Stored contents, including compressed forms', contents),
    gauge('svc_contents_bytes', 'Bytes of the stored contents', bytes),
    gauge('svc_files', 'Files that pipelines and visitors stored in projects', files.files),
    gauge('svc_files_bytes', 'Bytes of those files', files.bytes),
    gauge('svc_disk_free_bytes', 'Free space on the disk of the data directory', freeBytes),
    gauge('svc_disk_total_bytes', 'Size of the disk of the data directory', totalBytes),
    gauge('svc_disk_floor_bytes', 'Free space below which uploads are refused', floorBytes),
    gauge('svc_reserve_bytes', 'Space kept for tidying up on a full disk', reserveBytes(ctx.config.dataDir)),
  ]
}

/** Without a time before the first backup. */
async function backupMetrics(ctx: Context): Promise<Metric[]> {
  const [at, last] = [await newestBackupAt(ctx), await lastBackup(ctx)]
  const help = 'When the newest backup in BACKUP_DIR was made'
  return [
    counter('svc_backup_failures_total', 'Backups that failed', countBackupFailures(ctx)),
    ...(at === null ? [] : [gauge('svc_backup_timestamp_seconds', help, at / 1000)]),
    ...(last === null
      ? []
      : [
          gauge(
            'svc_backup_last_timestamp_seconds',
            'When the last backup was made, in any way',
            last.at / 1000,
          ),
        ]),
  ]
}

/** Empty when a proxy holds the certificates. */
function certificateMetrics(ctx: Context): Metric[] {
  const samples = ctx.certificates
    .all()
    .flatMap(({ hosts, expiresAt }) => hosts.map((host) => ({ labels: { host }, value: expiresAt / 1000 })))
  const help = 'When the certificate of the host expires, in seconds since 1970'
  return samples.length === 0 ? [] : [{ ...gauge('svc_certificate_expires_seconds', help, 0), samples }]
}

const webhookMetrics = (ctx: Context): Metric[] => [
  gauge('svc_webhook_pending', 'Webhook deliveries that wait to be sent', countWaiting(ctx)),
  byResult('svc_webhook_deliveries_total', 'Webhook deliveries that ended, by result', deliveryCounts(ctx)),
]

const mailMetrics = (ctx: Context): Metric[] => [
  gauge('svc_mail_pending', 'Mails that wait to be sent', countWaitingMails(ctx)),
  byResult('svc_mails_total', 'Mails that ended, by result', mailCounts(ctx)),
]

/** Empty without a CDN. */
const cdnMetrics = (ctx: Context): Metric[] =>
  ctx.config.cdnKind === null
    ? []
    : [
        gauge('svc_cdn_purges_pending', 'Keys that the CDN is yet to be told of', cdnState(ctx).pending),
        byResult('svc_cdn_purges_total', 'Purges that were sent, by result', purgeCounts(ctx)),
      ]

function processMetrics(): Metric[] {
  const { user, system } = process.cpuUsage()
  return [
    counter('process_cpu_seconds_total', 'CPU time', (user + system) / 1e6),
    gauge('process_resident_memory_bytes', 'Memory', process.memoryUsage.rss()),
  ]
}

function requestMetrics(counts: RequestCounts): Metric[] {
  return [
    {
      ...counter('svc_http_requests_total', 'Requests by status', 0),
      samples: [...counts.statuses].map(([status, value]) => ({ labels: { status: String(status) }, value })),
    },
    durations(counts),
    counter('svc_http_response_bytes_total', 'Bytes of response bodies of known length', counts.sizeBytes),
    counter('svc_request_log_dropped_total', 'Requests that could not be written to the log', counts.dropped),
  ]
}

const durations = ({ durations, durationSumMs }: RequestCounts): Metric =>
  histogram(
    'svc_http_request_duration_seconds',
    'Time until the response head; estimated under very high load',
    {
      boundsMs: DURATION_BUCKETS_MS,
      counts: durations,
      sumMs: durationSumMs,
    },
  )
