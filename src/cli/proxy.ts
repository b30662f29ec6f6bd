import { type Io, UsageError } from './command.ts'

/** The proxy that a request of this machine goes through. */
export type HttpProxy = {
  /** With its credentials, for the connection alone. */
  url: string
  /** Without them, for messages. */
  address: string
  /** The variable that names it. */
  variable: string
}

/**
 * The proxy of `HTTPS_PROXY` or `HTTP_PROXY`, in either case, by the scheme of `url`; undefined if there is none or
 * `NO_PROXY` takes the host out. Throws a `UsageError` for one that cannot be used.
 */
export function proxyFor(url: string, env: Io['env']): HttpProxy | undefined {
  const { protocol, hostname, port } = new URL(url)
  const name = protocol === 'https:' ? 'https_proxy' : 'http_proxy'
  const variable = [name, name.toUpperCase()].find((one) => env[one]?.trim())
  if (variable === undefined) return undefined
  const exceptions = env['no_proxy'] ?? env['NO_PROXY'] ?? ''
  if (isException(exceptions, hostname, port || DEFAULT_PORTS[protocol])) return undefined
  return { ...parse(env[variable]?.trim() ?? '', variable), variable }
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

/** As curl reads it: without a scheme it is http. */
function parse(text: string, variable: string): Omit<HttpProxy, 'variable'> {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(
      `${variable} is no address of an HTTP proxy; it looks like http://proxy.example.com:3128`,
    )
  return { url: url.href, address: url.origin }
}

/**
 * `NO_PROXY`: names separated by commas or spaces, each for itself and what lies below it, with a port or without; `*` is
 * every host.
 */
function isException(list: string, hostname: string, port: string | undefined): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '')
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true
      const [, ofName = entry, ofPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? []
      const name = ofName.replace(/^\[|\]$|^\*?\./g, '')
      return (ofPort === undefined || ofPort === port) && (host === name || host.endsWith(`.${name}`))
    })
}
