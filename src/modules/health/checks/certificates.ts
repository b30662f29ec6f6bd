import type { Context } from '../../../context.ts'
import { prepared } from '../../../db/statements.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { isoTime } from '../../../domain/iso-time.ts'
import type { Check } from './check.ts'

const DAYS_LEFT_MS = 14 * DAY_MS

/** Of the admin host and of every verified domain; `value` is when the first one ends. */
export const checkCertificates: Check = (ctx) => {
  if (ctx.config.tls === 'off') return { status: 'off', message: 'A proxy in front has the certificates' }
  const states = hostsOf(ctx).map((host) => ({ host, ...ctx.certificates.stateOf(host) }))
  const ends = states.flatMap(({ expiresAt }) => expiresAt ?? [])
  const value = ends.length === 0 ? null : isoTime(Math.min(...ends))
  const named = (hosts: { host: string }[]): string => hosts.map(({ host }) => host).join(', ')
  const bad = states.filter(({ status }) => status === 'failed' || status === 'expired')
  if (bad.length > 0) return { status: 'error', message: `No good certificate: ${named(bad)}`, value }
  const ending = states.filter(
    ({ status, expiresAt }) =>
      status === 'pending' || (expiresAt !== null && expiresAt - ctx.now() < DAYS_LEFT_MS),
  )
  if (ending.length > 0)
    return { status: 'warn', message: `Requested, or ending soon: ${named(ending)}`, value }
  return { status: 'ok', message: 'All hosts have a good certificate', value }
}

const hostsOf = ({ config, db }: Context): string[] => [
  ...(config.adminHost === 'localhost' ? [] : [config.adminHost]),
  ...prepared<{ hostname: string }>(
    db,
    'SELECT d.hostname FROM domains d JOIN projects p ON p.id = d.project_id WHERE d.verified_at IS NOT NULL',
  )
    .all()
    .map(({ hostname }) => hostname),
]
