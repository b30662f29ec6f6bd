import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { AppError, invalidField } from '../../domain/errors.ts'
import { asciiHost, isIpLiteral, isMappableLabel, siteLabelOf } from '../../domain/hostname.ts'
import { isLabelFree } from '../aliases/host-labels.ts'

/** A host name as it is stored and compared; international names in their ASCII form. Throws `invalid`. */
export function parseHostname(text: string, path = 'hostname'): string {
  const host = asciiHost(text)
  if (host !== null && !isIpLiteral(host)) return host
  throw invalidField(path, 'A host name without scheme, port and path, such as docs.example.com')
}

/**
 * Refuses a host that svc assigns itself. Below the base domain, a mapped host is one label without `--` that no alias,
 * deployment or the admin uses, so that nobody maps another project's host. contract §1 Hosts.
 */
export function refuseReserved(ctx: Context, db: DbOrTx, host: string): void {
  const { adminHost, baseDomain } = ctx.config
  if (host === adminHost || host === 'localhost') throw taken(`${host} is the host of the admin`)
  if (!isBelowBase(ctx, host)) return
  const label = siteLabelOf(host, baseDomain)
  if (label === null || !isMappableLabel(label))
    throw taken(`Below ${baseDomain} a domain is one name without --, such as docs.${baseDomain}`)
  if (!isLabelFree(ctx, db, label)) throw taken(`${host} already belongs to a site`)
}

/** Hosts below the base domain belong to the operator: they need no proof. */
export const isBelowBase = (ctx: Context, host: string): boolean => host.endsWith(`.${ctx.config.baseDomain}`)

/** Where a redirect leads: a host name, or an address without query; null for none. Throws `invalid`. */
export function parseRedirect(text: string | null, from: string): string | null {
  if (text === null || text === '') return null
  if (!text.includes('://')) return parseRedirectHost(text, from)
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.search}${url.hash}` === ''
  if (url === null || !isPlain)
    throw invalidField('redirectTo', 'A host name, or an address such as https://www.example.com')
  parseRedirectHost(url.hostname, from)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function parseRedirectHost(text: string, from: string): string {
  const host = parseHostname(text, 'redirectTo')
  if (host === from) throw invalidField('redirectTo', 'A domain cannot redirect to itself')
  return host
}

/** `/docs` for a folder inside what the alias serves, `''` for all of it. Throws `invalid`. */
export function parsePathPrefix(text: string): string {
  const segments = text.split('/').filter((segment) => segment !== '')
  const isSafe = segments.every((segment) => !/^\.{1,2}$|[\\\p{Cc}]/u.test(segment)) && text.length <= 500
  if (!isSafe) throw invalidField('pathPrefix', 'A folder of the deployment, such as /docs')
  return segments.map((segment) => `/${segment.normalize('NFC')}`).join('')
}

const taken = (message: string) => new AppError('conflict', message)
