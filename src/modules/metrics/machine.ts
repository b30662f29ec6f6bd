import type { Context, Machine } from '../../context.ts'
import { STORE_BUCKETS_MS } from '../../platform/object-store/activity.ts'
import { forwardCounts, takeovers } from '../machines/counts.ts'
import { byResult, counter, gauge, histogram, type Metric } from './text.ts'

/** Nothing of it without an object store. contract 18 §7. */
export function machineMetrics(ctx: Context): Metric[] {
  const { machine, blobs } = ctx
  if (machine === null) return []
  const { number, unshippedBytes, lagMs, isStoreUp } = machine.state()
  const role = { samples: [{ labels: { role: machine.role() }, value: 1 }] }
  return [
    { ...gauge('svc_role', 'What this machine is', 1), ...role },
    gauge('svc_epoch', 'Number of the newest take-over', machine.epoch()),
    gauge('svc_log_number', 'The last number of the log that is here and in the object store', number),
    gauge(
      'svc_log_lag_seconds',
      'How long the oldest commit waits for the object store, or for here',
      lagMs / 1000,
    ),
    gauge('svc_log_unshipped_bytes', 'What the object store does not have yet', unshippedBytes),
    gauge(
      'svc_store_up',
      'Whether the object store answered the last request for the log',
      isStoreUp ? 1 : 0,
    ),
    ...requestMetrics(machine),
    ...cacheMetrics(blobs),
    byResult('svc_forwarded_requests_total', 'Requests passed to the primary, by result', forwardCounts(ctx)),
    counter('svc_takeovers_total', 'How often this process became the primary', takeovers(ctx, machine)),
  ]
}

function requestMetrics({ activity }: Machine): Metric[] {
  const samples = activity
    .results()
    .map(({ op, result, count }) => ({ labels: { op, result }, value: count }))
  const help = 'Time of one request to the object store'
  return [
    { ...counter('svc_store_requests_total', 'Requests to the object store, by result', 0), samples },
    histogram('svc_store_request_duration_seconds', help, {
      boundsMs: STORE_BUCKETS_MS,
      counts: activity.durations,
      sumMs: activity.durationSumMs,
    }),
  ]
}

function cacheMetrics({ remote }: Context['blobs']): Metric[] {
  if (remote === null) return []
  const { bytes, hits, misses } = remote.cache
  return [
    gauge('svc_store_cache_bytes', 'Bytes of local copies of the object store', bytes),
    counter('svc_store_cache_hits_total', 'Contents that were read from local copies', hits),
    counter('svc_store_cache_misses_total', 'Blocks that were fetched from the object store', misses),
  ]
}
