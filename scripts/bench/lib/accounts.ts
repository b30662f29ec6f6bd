import type { Svc } from './svc.ts'

/** As `startSvc` makes it. */
const ADMIN = { email: 'bench@example.com', password: 'bench bench bench' }
const VISITOR = { email: 'visitor@example.com', password: 'visitor visitor' }

/** One call as JSON; anything but 2xx is an error with its text. */
export async function call(
  { url }: Pick<Svc, 'url'>,
  method: string,
  path: string,
  json: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(json),
  })
  if (response.ok) return response
  throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
}

/** Signs in at the admin host; the `Cookie` header of the session. */
export async function cookieOf(svc: Pick<Svc, 'url'>, who = ADMIN): Promise<string> {
  const answer = await call(svc, 'POST', '/api/auth/signin', who)
  await answer.body?.cancel()
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

/**
 * Gives acme/bench a second alias, `members`, which shows the same deployment to its members only, and makes a guest of
 * it. Returns the alias's host and the guest's cookies.
 */
export async function addMembersOnly(svc: Svc): Promise<{ host: string; cookie: string }> {
  const cookie = await cookieOf(svc)
  const as = { cookie }
  const project = (await (await fetch(`${svc.url}/api/projects/acme/bench`, { headers: as })).json()) as {
    id: string
  }
  const { data } = (await (
    await fetch(`${svc.url}/api/aliases?projectId=${project.id}`, { headers: as })
  ).json()) as { data: { deploymentId: string }[] }
  const made = await call(
    svc,
    'POST',
    '/api/aliases',
    { projectId: project.id, name: 'members', deploymentId: data[0]?.deploymentId },
    as,
  )
  const alias = (await made.json()) as { id: string; url: string }
  await call(svc, 'PATCH', `/api/aliases/${alias.id}`, { isPublic: false }, as)
  await call(svc, 'POST', '/api/users', VISITOR, as)
  await call(
    svc,
    'POST',
    `/api/projects/${project.id}/permissions/users`,
    { email: VISITOR.email, role: 'guest' },
    as,
  )
  return { host: new URL(alias.url).hostname, cookie: await cookieOf(svc, VISITOR) }
}

/** What was answered while sign-ins were kept in flight, and how long each took. */
export type SignIns = { done: number; refused: number; medianMs: number; longestMs: number }

/** Keeps so many sign-ins in flight, each with the right password, until `stop`. */
export function keepSigningIn(svc: Pick<Svc, 'url'>, inFlight: number): { stop(): Promise<SignIns> } {
  let isOver = false
  const times: number[] = []
  let refused = 0
  const one = async () => {
    while (!isOver) {
      const startedAt = performance.now()
      const answer = await fetch(`${svc.url}/api/auth/signin`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(VISITOR),
      })
      await answer.body?.cancel()
      if (answer.status === 200) times.push(performance.now() - startedAt)
      else if (answer.status === 503) refused += 1
      else throw new Error(`a sign-in was answered ${answer.status}`)
    }
  }
  const running = Array.from({ length: inFlight }, one)
  return {
    async stop() {
      isOver = true
      await Promise.all(running)
      const sorted = times.toSorted((a, b) => a - b)
      return {
        done: sorted.length,
        refused,
        medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
        longestMs: sorted.at(-1) ?? 0,
      }
    },
  }
}
