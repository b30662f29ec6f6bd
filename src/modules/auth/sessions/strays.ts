import type { Context, RequestFacts } from '../../../context.ts'
import { SESSION_COOKIES } from '../../../domain/cookies.ts'
import { cookieDomain } from './cookies.ts'

/** Our addresses are never this deep or long. Each folder adds cookies to the response. */
const MAX_FOLDERS = 10
const LONGEST_FOLDER = 200

/**
 * Removes cookies that have the session cookies' names but are not ours: for a narrower path, for a domain above the
 * workspace, or partitioned by the browser (`Partitioned`). A sibling site can add them (cookie tossing), and while
 * they exist the request has no session. The session's own cookies are kept.
 */
export function strayCookies(ctx: Context, path: string, { host, isSecure }: RequestFacts): string[] {
  const own = cookieDomain(ctx, host)
  const domains = domainsAbove(host)
  const unpartitioned = domains.flatMap((domain) =>
    foldersOf(path)
      .filter((folder) => folder !== '/' || domain !== own)
      .flatMap((folder) => removals(domain, folder, isSecure)),
  )
  // Browsers accept `Partitioned` only with `Secure`.
  if (!isSecure) return unpartitioned
  const partitioned = domains.flatMap((domain) =>
    foldersOf(path).flatMap((folder) => removals(domain, folder, isSecure)),
  )
  return [...unpartitioned, ...partitioned.map((cookie) => `${cookie}; Partitioned`)]
}

/** As short as possible: a proxy in front may accept only 4 KiB of headers. */
const removals = (domain: string, path: string, isSecure: boolean): string[] =>
  SESSION_COOKIES.map(
    (name) => `${name}=; Domain=${domain}; Path=${path}; Max-Age=0${isSecure ? '; Secure' : ''}`,
  )

/** The domains above the host for which a cookie can be set. Browsers ignore public suffixes. */
function domainsAbove(host: string): string[] {
  const labels = host.split('.')
  return labels.slice(1, -1).map((_, i) => `.${labels.slice(i + 1).join('.')}`)
}

/** The paths whose cookies are sent to `path`: `/a/b` gets those of `/`, `/a`, `/a/` and `/a/b`. RFC 6265 §5.1.4. */
function foldersOf(path: string): string[] {
  const folders = ['/']
  for (let i = 1; i < path.length && folders.length < 2 * MAX_FOLDERS; i++)
    if (path[i] === '/') folders.push(path.slice(0, i), path.slice(0, i + 1))
  if (path !== '/') folders.push(path)
  return [...new Set(folders)].filter((folder) => folder.length <= LONGEST_FOLDER && !folder.includes(';'))
}
