import { VERSION } from '../../release-info.ts'
import { fetched, parseApiUrl } from '../api-client.ts'
import { EXIT, type Io, printable, printableJson, UsageError } from '../command.ts'
import { proxyFor } from '../proxy.ts'

type Visit = {
  url: string
  method: string
  accept: string
  headers: readonly (readonly [name: string, value: string])[]
  apiUrl: string | undefined
  isJson: boolean
}

const NEEDS_KEY =
  'which rule, file or check decides is only told with a key of the project: set SVC_API_KEY, or run svc login'
const ANSWER_TIMEOUT_MS = 60_000

/** The headers that say why a visitor sees what he sees. */
const SHOWN = [
  'location',
  'content-type',
  'content-length',
  'content-encoding',
  'cache-control',
  'etag',
  'last-modified',
  'vary',
  'x-svc-commit',
  'x-variant',
  'x-upstream-status',
  'retry-after',
]

/**
 * Shows what anybody gets at the address, asked at the server of `apiUrl`, or at the address itself without one. contract
 * 12.12. A write would be carried out, so only reads are asked.
 */
export async function showVisit(
  { url, method, accept, headers: asked, apiUrl, isJson }: Visit,
  io: Io,
): Promise<number> {
  const address = URL.parse(url)
  if (address === null || !['http:', 'https:'].includes(address.protocol))
    throw new UsageError(
      `"${url}" is no address; it looks like https://production--site--acme.example.com/page`,
    )
  if (!['GET', 'HEAD'].includes(method))
    throw new UsageError(`without SVC_API_KEY ${method} would be carried out; only GET and HEAD can be asked`)
  const base = apiUrl === undefined ? address.origin : new URL(parseApiUrl(apiUrl)).origin
  const init = {
    method,
    redirect: 'manual',
    headers: { host: address.host, accept, 'user-agent': `svc/${VERSION}`, ...Object.fromEntries(asked) },
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  } as const
  const target = `${base}${address.pathname}${address.search}`
  const response = await fetched(target, proxyFor(base, io.env), init, headOf)
  const headers = SHOWN.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  const { status } = response
  if (isJson)
    io.stdout.write(
      `${printableJson({ url, status, headers: Object.fromEntries(headers), note: NEEDS_KEY }, 2)}\n`,
    )
  else {
    const lines = headers.map(([name, value]) => `${name.padEnd(17)} ${printable(value)}\n`)
    io.stdout.write(
      `${'status'.padEnd(17)} ${status} ${printable(response.statusText)}\n${lines.join('')}${NEEDS_KEY}\n`,
    )
  }
  return EXIT.ok
}

/** The body may be a download. */
async function headOf(response: Response): Promise<Response> {
  await response.body?.cancel()
  return response
}
