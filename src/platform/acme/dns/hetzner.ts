import type { Outbound } from '../../outbound.ts'
import { AcmeError } from '../error.ts'
import { DnsApi, listIn, zonesOf } from './api.ts'
import type { DnsProvider } from './provider.ts'

type Options = { outbound: Outbound; base?: string | null; token: string }

const BASE = 'https://api.hetzner.cloud/v1'

/** The Cloud API: https://docs.hetzner.cloud/reference/cloud#zone-rrset-actions */
export function hetznerProvider({ outbound, base, token }: Options): DnsProvider {
  const api = new DnsApi({
    outbound,
    base: (base ?? BASE).replace(/\/+$/, ''),
    headers: [['authorization', `Bearer ${token}`]],
    secrets: [token],
  })
  const recordsOf = (value: string) => [{ value: `"${value}"` }]
  const actionsOf = async (name: string, signal: AbortSignal) => {
    const zone = await zoneOf(api, name, signal)
    const below = name === zone.name ? '@' : name.slice(0, -zone.name.length - 1)
    return `/zones/${zone.id}/rrsets/${encodeURIComponent(below)}/TXT/actions`
  }
  return {
    async set(name, value, signal) {
      const body = { ttl: 60, records: recordsOf(value) }
      await api.call('POST', `${await actionsOf(name, signal)}/add_records`, { body, signal })
    },
    async remove(name, value, signal) {
      const body = { records: recordsOf(value) }
      await api.call('POST', `${await actionsOf(name, signal)}/remove_records`, { body, also: [404], signal })
    },
  }
}

async function zoneOf(api: DnsApi, name: string, signal: AbortSignal): Promise<{ id: string; name: string }> {
  for (const zone of zonesOf(name)) {
    const { json } = await api.call('GET', `/zones?name=${encodeURIComponent(zone)}`, { signal })
    const id = listIn(json, 'zones').find((one) => one['name'] === zone || one['name'] === undefined)?.['id']
    if (typeof id === 'string' || typeof id === 'number')
      return { id: encodeURIComponent(String(id)), name: zone }
  }
  throw new AcmeError(`The token in ACME_DNS_TOKEN sees no zone of ${name} at Hetzner`)
}
