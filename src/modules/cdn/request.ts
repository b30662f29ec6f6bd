import { createHmac } from 'node:crypto'
import type { CdnConfig, CdnKind } from '../../config/cdn.ts'
import { isRecord } from '../../domain/is-record.ts'

/** One purge as it is sent. */
export type PurgeRequest = { method: string; headers: [string, string][]; body: string | null }

type Credentials = Pick<CdnConfig, 'cdnToken' | 'cdnId'>

/** How one kind of CDN is told. contract 18 §8. */
type Way = {
  urls(config: Pick<CdnConfig, 'cdnUrl' | 'cdnId'>): string[]
  request(keys: readonly string[], credentials: Credentials, at: string): PurgeRequest
  isDone(status: number, body: string): boolean
}

const json = (value: unknown, ...headers: [string, string][]): PurgeRequest => ({
  method: 'POST',
  headers: [['content-type', 'application/json'], ...headers],
  body: JSON.stringify(value),
})

const below = (base: string, path: string): string => `${base.replace(/\/+$/, '')}${path}`

export const WAYS: Record<CdnKind, Way> = {
  varnish: {
    urls: ({ cdnUrl }) => [...cdnUrl],
    request: (keys) => ({ method: 'PURGE', headers: [['xkey-purge', keys.join(' ')]], body: null }),
    isDone: (status) => status >= 200 && status <= 204,
  },
  fastly: {
    urls: ({ cdnUrl: [base = 'https://api.fastly.com'], cdnId }) => [below(base, `/service/${cdnId}/purge`)],
    request: (keys, { cdnToken }) => json({ surrogate_keys: keys }, ['fastly-key', cdnToken ?? '']),
    isDone: (status) => status === 200,
  },
  cloudflare: {
    urls: ({ cdnUrl: [base = 'https://api.cloudflare.com/client/v4'], cdnId }) => [
      below(base, `/zones/${cdnId}/purge_cache`),
    ],
    request: (keys, { cdnToken }) => json({ tags: keys }, ['authorization', `Bearer ${cdnToken}`]),
    isDone: (status, body) => status === 200 && saysSuccess(body),
  },
  webhook: {
    urls: ({ cdnUrl }) => [...cdnUrl],
    request(keys, { cdnToken }, at) {
      const request = json({ keys, at })
      const signature = createHmac('sha256', cdnToken ?? '')
        .update(request.body ?? '')
        .digest('hex')
      request.headers.push(['x-svc-signature-256', `sha256=${signature}`])
      return request
    },
    isDone: (status) => status >= 200 && status <= 299,
  },
}

function saysSuccess(body: string): boolean {
  try {
    const said: unknown = JSON.parse(body)
    return isRecord(said) && said['success'] === true
  } catch {
    return false
  }
}
