import type { Context } from '../../context.ts'
import { type AppError, invalidField } from '../../domain/errors.ts'
import { isPlainAddress, isRewritePath } from '../../domain/target-shape.ts'
import type { RuleRow } from './queries.ts'

type Target = Pick<RuleRow, 'proxyType' | 'targetUrl'>

/**
 * Refuses a target that this kind of rule must not have: 400, for external ones with the code `PROXY_TARGET_NOT_HTTPS`
 * or `PROXY_TARGET_NOT_ALLOWED`. A pipeline ignores its target. contract §8.
 */
export async function checkTarget(ctx: Context, { proxyType, targetUrl }: Target): Promise<void> {
  // A redirect is not fetched: `checkRule` looks at its target.
  if (proxyType === 'pipeline' || proxyType === 'redirect') return
  if (proxyType === 'internal_rewrite') return checkRewrite(targetUrl)
  const url = URL.canParse(targetUrl) ? new URL(targetUrl) : null
  if (url === null) throw invalidTarget('An address such as https://api.example.com')
  await ctx.outbound.checkTarget(url)
  if (!isPlainAddress(targetUrl))
    throw invalidTarget('An address such as https://api.example.com, without spaces, backslashes and #')
}

/** As stored: schemes are case-insensitive, and written in lower case. RFC 3986 §3.1. */
export const storedTarget = (targetUrl: string): string =>
  targetUrl.replace(/^https?:/i, (scheme) => scheme.toLowerCase())

/** Scheme, host and port; null if there are none. Stored header values must not be sent anywhere else. */
export function originOf(targetUrl: string): string | null {
  return URL.canParse(targetUrl) ? new URL(targetUrl).origin : null
}

function checkRewrite(path: string): void {
  if (!isRewritePath(path))
    throw invalidTarget('A path in the same deployment, such as /app/ or /maintenance.html')
}

const invalidTarget = (message: string): AppError => invalidField('targetUrl', message)
