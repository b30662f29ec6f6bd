import type { Context, RequestFacts } from '../../../context.ts'
import { SESSION_COOKIES } from '../../../domain/cookies.ts'
import { cookieDomain } from './cookies.ts'

/** Deeper and longer addresses than any of ours. Each folder adds cookies to the answer. */
const MOST_FOLDERS = 10
const LONGEST_FOLDER = 200

/**
 * Removes cookies that are named like the session's and are not ours: of a narrower path, of a domain above the
 * workspace, or kept apart by the browser (`Partitioned`). A sibling site can add such (cookie tossing), and as long as
 * they are there, they and the session's stand for nobody. The session's own are left alone.
 */
export function strayCookies(ctx: Context, path: string, { host, isSecure }: RequestFacts): string[] {
  const own = cookieDomain(ctx, host)
  const domains = domainsAbove(host)
  const unpartitioned = domains.flatMap((domain) =>
    foldersOf(path)
      .filter((folder) => folder !== '/' || domain !== own)
      .flatMap((folder) => removals(domain, folder, isSecure)),
  )
  // Browsers take `Partitioned` only with `Secure`.
  if (!isSecure) return unpartitioned
  const partitioned = domains.flatMap((domain) =>
    foldersOf(path).flatMap((folder) => removals(domain, folder, isSecure)),
  )
  return [...unpartitioned, ...partitioned.map((cookie) => `${cookie}; Partitioned`)]
}

/** As short as can be: a proxy in front may take no more than 4 KiB of headers. */
const removals = (domain: string, path: string, isSecure: boolean): string[] =>
  SESSION_COOKIES.map(
    (name) => `${name}=; Domain=${domain}; Path=${path}; Max-Age=0${isSecure ? '; Secure' : ''}`,
  )

/** The domains that a cookie can be set for from below; browsers leave those out that are a registry's. */
function domainsAbove(host: string): string[] {
  const labels = host.split('.')
  return labels.slice(1, -1).map((_, i) => `.${labels.slice(i + 1).join('.')}`)
}

/** The paths whose cookies are sent to `path`: `/a/b` gets those of `/`, `/a`, `/a/` and `/a/b`. RFC 6265 §5.1.4. */
function foldersOf(path: string): string[] {
  const folders = ['/']
  for (let i = 1; i < path.length && folders.length < 2 * MOST_FOLDERS; i++)
    if (path[i] === '/') folders.push(path.slice(0, i), path.slice(0, i + 1))
  if (path !== '/') folders.push(path)
  return [...new Set(folders)].filter((folder) => folder.length <= LONGEST_FOLDER && !folder.includes(';'))
}
