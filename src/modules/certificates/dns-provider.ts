import type { Context } from '../../context.ts'
import { type AcmeDnsAccount, acmeDnsProvider, registerAtAcmeDns } from '../../platform/acme/dns/acme-dns.ts'
import { cloudflareProvider } from '../../platform/acme/dns/cloudflare.ts'
import { execProvider } from '../../platform/acme/dns/exec.ts'
import { hetznerProvider } from '../../platform/acme/dns/hetzner.ts'
import type { DnsProvider } from '../../platform/acme/dns/provider.ts'
import { rfc2136Provider } from '../../platform/acme/dns/rfc2136.ts'
import type { CertificateStore } from './store.ts'

/** `cname`: where a CNAME at the challenge's name has to lead; null where svc sets the record by itself. */
export type ReadyProvider = { provider: DnsProvider; cname: string | null }

/** That of `ACME_DNS`; null for `persist`, which sets nothing. */
export async function dnsProviderOf(
  ctx: Context,
  store: CertificateStore,
  signal: AbortSignal,
): Promise<ReadyProvider | null> {
  const { config, operatorOutbound: outbound, now } = ctx
  const { acmeDnsToken: token, acmeDnsApi: base, acmeDnsServer: server, acmeDnsZone: zone } = config
  const { acmeDnsTsigName: name, acmeDnsTsigSecret: secret, acmeDnsTsigAlgorithm: algorithm } = config
  const byItself = (provider: DnsProvider): ReadyProvider => ({ provider, cname: null })
  switch (config.acmeDns) {
    case 'exec':
      return config.acmeDnsExec && byItself(execProvider(config.acmeDnsExec))
    case 'cloudflare':
      return token === null ? null : byItself(cloudflareProvider({ outbound, base, token }))
    case 'hetzner':
      return token === null ? null : byItself(hetznerProvider({ outbound, base, token }))
    case 'rfc2136': {
      if (server === null || zone === null || name === null || secret === null) return null
      const key = { name, secret: Buffer.from(secret, 'base64'), algorithm: algorithm ?? 'hmac-sha256' }
      return byItself(rfc2136Provider({ server, zone, key, now }))
    }
    case 'acme-dns':
      return config.acmeDnsUrl === null ? null : atAcmeDns(ctx, store, config.acmeDnsUrl, signal)
    default:
      return null
  }
}

/** The account is kept before it is used: its domain is what a person sets. */
async function atAcmeDns(
  { operatorOutbound: outbound, log }: Context,
  store: CertificateStore,
  url: string,
  signal: AbortSignal,
): Promise<ReadyProvider> {
  const kept = store.readProviderAccount(url, log)
  const account = kept === null ? await registerAtAcmeDns({ outbound, url }, signal) : accountOf(kept)
  if (kept === null) await store.saveProviderAccount(url, JSON.stringify(account))
  return { provider: acmeDnsProvider({ outbound, url }, account), cname: account.fulldomain }
}

const accountOf = (text: string): AcmeDnsAccount => JSON.parse(text) as AcmeDnsAccount
