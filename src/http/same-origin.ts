import { AppError } from '../domain/errors.ts'
import { isSafe } from '../domain/safe-methods.ts'
import { parseWebUrl } from '../domain/web-url.ts'

/**
 * Rejects a write that a page of another origin sent, with somebody's cookies or to give them a session.
 * `hostWithPort` is the host that the request was sent to. Schemes may differ, because a proxy may be in front.
 * contract §2: Cookies never authorise a cross-site write; 12.6: Origin. A WebSocket counts as a write, although it
 * starts with a GET.
 */
export function refuseCrossOrigin(
  request: Request,
  hostWithPort: string,
  isWrite = !isSafe(request.method),
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

/** If a proxy drops the host or its port, one of our own pages looks like a foreign one. */
const refusal = (from: string | null, to: string): string =>
  `This request was sent to ${to} from a page of another site${from === null ? '' : ` (${from})`}, so it was ` +
  'refused. If both are the same site, the proxy in front must pass Host unchanged, including its port.'

/** Host and port of an origin or URL; null if it has none (`null` from a sandboxed page). */
function hostOf(address: string): string | null {
  const url = parseWebUrl(address)
  return url === null ? null : stripDefaultPort(url.host)
}

const stripDefaultPort = (host: string): string => host.toLowerCase().replace(/:(80|443)$/, '')
