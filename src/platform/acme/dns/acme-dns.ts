import type { Outbound } from '../../outbound.ts'
import { AcmeError } from '../error.ts'
import { DnsApi } from './api.ts'
import type { DnsProvider } from './provider.ts'

export type AcmeDnsAccount = { username: string; password: string; fulldomain: string; subdomain: string }

type Server = { outbound: Outbound; url: string }

/** Makes an account, once. https://github.com/acme-dns/acme-dns#register-endpoint */
export async function registerAtAcmeDns(server: Server, signal: AbortSignal): Promise<AcmeDnsAccount> {
  const { json } = await apiOf(server, [], []).call('POST', '/register', { body: {}, signal })
  const { username, password, fulldomain, subdomain } = json
  if (![username, password, fulldomain, subdomain].every((one) => typeof one === 'string' && one !== ''))
    throw new AcmeError('The acme-dns server made an account without a name, a key or a domain')
  return { username, password, fulldomain, subdomain } as AcmeDnsAccount
}

/** It keeps the two newest values itself, so none is removed. */
export function acmeDnsProvider(
  server: Server,
  { username, password, subdomain }: AcmeDnsAccount,
): DnsProvider {
  const headers = [
    ['x-api-user', username],
    ['x-api-key', password],
  ] as const
  const api = apiOf(server, headers, [username, password])
  return {
    async set(_name, value, signal) {
      await api.call('POST', '/update', { body: { subdomain, txt: value }, signal })
    },
    async remove() {},
  }
}

const apiOf = (
  { outbound, url }: Server,
  headers: readonly (readonly [string, string])[],
  secrets: readonly string[],
) => new DnsApi({ outbound, base: url.replace(/\/+$/, ''), headers, secrets })
