import type { Config } from '../../config/config.ts'
import { coversHost, type WildcardState } from '../../platform/certificates.ts'
import { type Entry, stateOfEntry } from './host-entry.ts'
import type { HostRecord } from './host-record.ts'
import { dueAt } from './timing.ts'

type Settings = Pick<Config, 'acmeDns' | 'baseDomain'>

/** Under this name the wildcard is kept and shown beside the hosts; null while it is not set up. */
export const wildcardHost = ({ acmeDns, baseDomain }: Settings): string | null =>
  acmeDns === null ? null : `*.${baseDomain}`

/** Whether nobody orders or renews one for it: the wildcard is for it, too, or it is the wildcard of before `ACME_DNS` was unset. */
export const isAtRest = (settings: Settings, host: string): boolean =>
  isCovered(settings, host) || isLeftWildcard(settings, host)

/**
 * Whether what is at rest is served on: the certificate of a host below the base domain until the wildcard is there, and a
 * wildcard that is set up no more until it ends.
 */
export function isServedOn(
  settings: Settings,
  { host, certificate }: HostRecord,
  { now, find }: { now: number; find: (host: string) => Entry | undefined },
): boolean {
  if (certificate === null) return false
  if (isLeftWildcard(settings, host)) return certificate.expiresAt > now
  const wildcard = find(wildcardHost(settings) ?? '')?.record.certificate
  return wildcard == null || wildcard.expiresAt <= now
}

const isLeftWildcard = ({ acmeDns, baseDomain }: Settings, host: string): boolean =>
  acmeDns === null && host === `*.${baseDomain}`

/** The names in the certificate of a host: the wildcard is for the domain itself too. */
export const namesOf = (host: string): string[] => (host.startsWith('*.') ? [host.slice(2), host] : [host])

/** Whether the wildcard is for this host, so that it needs none of its own. */
export function isCovered(settings: Settings, host: string): boolean {
  const wildcard = wildcardHost(settings)
  return wildcard !== null && host !== wildcard && coversHost(namesOf(wildcard), host)
}

/** The name under which the certificate of a host is ordered. */
export const orderedAs = (settings: Settings, host: string): string =>
  isCovered(settings, host) ? (wildcardHost(settings) ?? host) : host

/** What a host shows: a certificate of its own, which it may still have, or the wildcard. */
export function servingEntry(
  settings: Settings,
  host: string,
  find: (host: string) => Entry | undefined,
): Entry | undefined {
  const own = find(host)
  const isOwn = own !== undefined && own.record.certificate !== null
  return isOwn ? own : find(orderedAs(settings, host))
}

const STATUS = {
  off: 'pending',
  pending: 'pending',
  active: 'valid',
  expired: 'failed',
  failed: 'failed',
} as const satisfies Record<string, WildcardState['status']>

export function wildcardStateOf(
  entry: Entry,
  { acmeDns, acmeDirectory }: Pick<Config, 'acmeDns' | 'acmeDirectory'>,
  now: number,
): WildcardState {
  const { record } = entry
  const { status, expiresAt, error } = stateOfEntry(entry, now)
  return {
    hosts: namesOf(record.host),
    provider: acmeDns ?? '',
    status: STATUS[status],
    expiresAt,
    renewAt: record.certificate === null ? null : dueAt(record, acmeDirectory),
    triedAt: record.triedAt,
    error,
    record: record.toSet,
  }
}
