import type { Context } from '../../context.ts'
import { isIpLiteral, siteLabelOf } from '../../domain/hostname.ts'
import { isAliasLabel, listPublicAliasLabels } from '../aliases/host-labels.ts'
import { listProvenHosts } from '../domains/mapped-hosts.ts'
import { isCovered, wildcardHost } from './wildcard.ts'

export type WantedHost = { host: string; projectId: string | null }

/** What gets a certificate automatically: the wildcard, the admin host, then every proven domain. contract §10, 19.5. */
export function wantedHosts(ctx: Context): WantedHost[] {
  const admin: WantedHost = { host: ctx.config.adminHost, projectId: null }
  const wildcard = wildcardHost(ctx.config)
  const single = [admin, ...listProvenHosts(ctx.db.orm)].filter(({ host }) => !isCovered(ctx.config, host))
  const all = wildcard === null ? single : [{ host: wildcard, projectId: null }, ...single]
  return all.filter(({ host }) => whyNone(host) === null)
}

/**
 * The hosts of aliases that everybody may see. Private ones wait until they are visited, because every certificate is
 * published (Certificate Transparency, RFC 9162).
 */
export function publicAliasHosts(ctx: Context): string[] {
  const { baseDomain } = ctx.config
  if (whyNone(`a.${baseDomain}`) !== null) return []
  return listPublicAliasLabels(ctx.db.orm).map((label) => `${label}.${baseDomain}`)
}

/** Why no authority issues a certificate for this host; null when one may. */
export function whyNone(host: string): string | null {
  if (host === 'localhost' || host.endsWith('.localhost'))
    return `${host} is the local machine, so no certificate authority issues a certificate for it`
  if (isIpLiteral(host)) return 'IP addresses cannot get a certificate: give the server a host name'
  if (!host.includes('.')) return `${host} is a local network name: a certificate needs a full domain name`
  return null
}

/** Whether the host belongs to an existing alias, and so may get a certificate once it is visited. */
export function isAliasHost(ctx: Context, host: string): boolean {
  const label = siteLabelOf(host, ctx.config.baseDomain)
  return label !== null && whyNone(host) === null && isAliasLabel(ctx.db.orm, label)
}
