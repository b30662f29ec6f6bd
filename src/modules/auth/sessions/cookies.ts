import type { Context, RequestFacts } from '../../../context.ts'
import { ACCESS_COOKIE, REFRESH_COOKIE, setCookie } from '../../../domain/cookies.ts'
import { ACCESS_MS, REFRESH_MS, type Tokens } from './tokens.ts'

/** The `Set-Cookie` values that give a browser the tokens, as far as the request's host allows. */
export function sessionCookies(ctx: Context, tokens: Tokens, facts: RequestFacts): string[] {
  const options = { domain: cookieDomain(ctx, facts.host), isSecure: facts.isSecure }
  return [
    setCookie(ACCESS_COOKIE, tokens.access, { ...options, maxAgeSeconds: ACCESS_MS / 1000 }),
    setCookie(REFRESH_COOKIE, tokens.refresh, { ...options, maxAgeSeconds: REFRESH_MS / 1000 }),
  ]
}

/** Removes the cookies with and without the workspace domain: either may have been set here. */
export function clearedCookies(ctx: Context, facts: RequestFacts): string[] {
  const domains = [...new Set([null, cookieDomain(ctx, facts.host)])]
  return domains.flatMap((domain) =>
    [ACCESS_COOKIE, REFRESH_COOKIE].map((name) =>
      setCookie(name, '', { domain, maxAgeSeconds: 0, isSecure: facts.isSecure }),
    ),
  )
}

/** The workspace's parent domain if the host is below it; null (host-only) elsewhere and with plain `localhost`. */
export function cookieDomain(ctx: Context, host: string): string | null {
  const base = ctx.config.baseDomain
  const isBelow = host === base || host.endsWith(`.${base}`)
  return base.includes('.') && isBelow ? `.${base}` : null
}
