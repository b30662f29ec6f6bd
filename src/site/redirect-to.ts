import type { Result } from '../domain/routing/target.ts'
import type { Site } from './site.ts'

/**
 * The answer of a 3xx line. It is asked for again each time, so that no browser pins it. A path stays one, below a path
 * form with its `mount`. contract 13 §2.
 */
export function redirectTo(result: Result, status: number, site: Site, mount: string): Response {
  const { isShared, commitSha } = site
  return new Response(null, {
    status,
    headers: {
      location: result.origin === null ? `${mount}${result.href}` : result.href,
      'cache-control': `${isShared ? 'public' : 'private'}, max-age=0, must-revalidate`,
      'x-svc-commit': commitSha,
      ...(isShared ? {} : { vary: 'Cookie' }),
    },
  })
}
