import { AppError } from '../domain/errors.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a write that a page of another origin sent with somebody's cookies. `hostWithPort` is what the request was
 * sent to. Schemes may differ, because a proxy may stand in front. contract §2: Cookies never authorise a cross-site write.
 * A WebSocket is a write too, although it begins with a GET.
 */
export function refuseCrossOrigin(
  request: Request,
  hostWithPort: string,
  isWrite = !SAFE_METHODS.has(request.method),
): void {
  if (!isWrite) return
  const site = request.headers.get('sec-fetch-site')
  if (site === 'same-origin' || site === 'none') return
  const from = request.headers.get('origin') ?? request.headers.get('referer')
  if (from === null ? site === null : hostOf(from) === stripDefaultPort(hostWithPort)) return
  throw new AppError('forbidden', refusal(from === null ? null : hostOf(from), hostWithPort), {
    code: 'CROSS_ORIGIN_REQUEST',
  })
}

/** Where a proxy loses the host or its port, a page of ours looks like one of somebody else. */
const refusal = (from: string | null, to: string): string =>
  `This request came from a page of another site${from === null ? '' : ` (${from})`} than it was sent to (${to}), so the ` +
  'session does not count. If both are the same, the proxy in front must pass Host on unchanged, with its port.'

/** Host and port of an origin or address; null when it has none (`null` of a sandboxed page). */
function hostOf(address: string): string | null {
  return URL.canParse(address) ? stripDefaultPort(new URL(address).host) : null
}

const stripDefaultPort = (host: string): string => host.toLowerCase().replace(/:(80|443)$/, '')
