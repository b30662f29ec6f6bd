import type { Context } from '../context.ts'
import { resolveAliasPath, resolveShaPath } from './resolve-site.ts'
import type { Site } from './site.ts'

/** What a path of the admin host shows as a path form; undefined if it is not one, or shows nothing. */
export const pathFormOf = (ctx: Context, path: string): PathForm | undefined =>
  path.startsWith('/public/') || path.startsWith('/repo/') ? parsePathForm(ctx, path) : undefined

/** A parsed path form: the site, the path within it, and whether credentials are ignored. */
export type PathForm = { site: Site; mount: string; rest: string; isAnonymous: boolean }

/** Returns undefined if the path is not a path form, or shows nothing. */
export function parsePathForm(ctx: Context, path: string): PathForm | undefined {
  const [, form, owner, repo, ...rest] = path.split('/')
  const [decodedOwner, decodedRepo] = [decode(owner), decode(repo)]
  if (decodedOwner === undefined || decodedRepo === undefined || rest.length === 0) return undefined
  const isAliasForm = form === 'repo' && rest[0] === 'alias' && rest.length > 1
  const ref = decode(isAliasForm ? rest[1] : rest[0])
  if (ref === undefined) return undefined
  const site =
    (isAliasForm || form === 'public' ? resolveAliasPath(ctx, decodedOwner, decodedRepo, ref) : undefined) ??
    (isAliasForm ? undefined : resolveShaPath(ctx, decodedOwner, decodedRepo, ref))
  if (site === undefined) return undefined
  const mount = path.split('/', isAliasForm ? 6 : 5).join('/')
  return { site, mount, rest: path.slice(mount.length), isAnonymous: form === 'public' }
}

function decode(segment: string | undefined): string | undefined {
  if (segment === undefined || segment === '') return undefined
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
