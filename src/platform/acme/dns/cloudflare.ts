import type { Outbound } from '../../outbound.ts'
import { AcmeError, fieldsOf } from '../error.ts'
import { DnsApi, listIn, zonesOf } from './api.ts'
import type { DnsProvider } from './provider.ts'

type Options = { outbound: Outbound; base?: string | null; token: string }

const BASE = 'https://api.cloudflare.com/client/v4'

/** https://developers.cloudflare.com/api/resources/dns/ */
export function cloudflareProvider({ outbound, base, token }: Options): DnsProvider {
  const api = new DnsApi({
    outbound,
    base: (base ?? BASE).replace(/\/+$/, ''),
    headers: [['authorization', `Bearer ${token}`]],
    secrets: [token],
  })
  /** Of the records that this process made. */
  const ids = new Map<string, { zone: string; id: string }>()
  const keyOf = (name: string, value: string) => `${name} ${value}`

  return {
    async set(name, value, signal) {
      const zone = await zoneOf(api, name, signal)
      const record = { type: 'TXT', name, content: quoted(value), ttl: 60 }
      const { json } = await api.call('POST', `/zones/${zone}/dns_records`, { body: record, signal })
      const { id } = fieldsOf(json['result'])
      if (typeof id === 'string') ids.set(keyOf(name, value), { zone, id: encodeURIComponent(id) })
    },
    async remove(name, value, signal) {
      const made = ids.get(keyOf(name, value))
      const found = made === undefined ? await recordsOf(api, name, value, signal) : [made]
      for (const { zone, id } of found)
        await api.call('DELETE', `/zones/${zone}/dns_records/${id}`, { also: [404], signal })
      ids.delete(keyOf(name, value))
    },
  }
}

const quoted = (value: string) => `"${value}"`

async function zoneOf(api: DnsApi, name: string, signal: AbortSignal): Promise<string> {
  for (const zone of zonesOf(name)) {
    const { json } = await api.call('GET', `/zones?name=${encodeURIComponent(zone)}`, { signal })
    const found = listIn(json, 'result').find((one) => one['name'] === zone || one['name'] === undefined)
    if (typeof found?.['id'] === 'string') return encodeURIComponent(found['id'])
  }
  throw new AcmeError(`The token in ACME_DNS_TOKEN sees no zone of ${name} at Cloudflare`)
}

/** After a crash. */
async function recordsOf(api: DnsApi, name: string, value: string, signal: AbortSignal) {
  const zone = await zoneOf(api, name, signal)
  const query = `type=TXT&name=${encodeURIComponent(name)}`
  const { json } = await api.call('GET', `/zones/${zone}/dns_records?${query}`, { signal })
  return listIn(json, 'result').flatMap(({ id, content }) =>
    typeof id === 'string' && (content === value || content === quoted(value))
      ? [{ zone, id: encodeURIComponent(id) }]
      : [],
  )
}
