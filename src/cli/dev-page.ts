import { SESSION_COOKIES } from '../domain/cookies.ts'

/** Runs in the browser. Reloads the page when the folder changes. */
export const LIVE_SCRIPT = `new EventSource('/_dev/live').onmessage = () => location.reload()\n`

/**
 * A page with the reload script appended; streamed pages stay streamed, other responses stay as they are. The page has no
 * ETag because its bytes differ. A page that a backend compressed anyway is not changed.
 */
export function withLiveScript(response: Response): Response {
  const { body, status } = response
  if (body === null || !(response.headers.get('content-type') ?? '').startsWith('text/html')) return response
  if (response.headers.has('content-encoding')) return response
  const headers = new Headers(response.headers)
  for (const name of ['etag', 'content-length']) headers.delete(name)
  return new Response(body.pipeThrough(endingIn(LIVE_TAG)), { status, headers })
}

const LIVE_TAG = new TextEncoder().encode('\n<script src="/_dev/live.js"></script>\n')

const endingIn = (end: Uint8Array) =>
  new TransformStream<Uint8Array, Uint8Array>({
    flush(controller) {
      controller.enqueue(end)
    },
  })

/** Both cookies of a session, empty. */
const NO_SESSION = SESSION_COOKIES.map((name) => `${name}=`).join('; ')

type Person = { email: string; role: string }
const ROLES = ['guest', 'viewer', 'contributor', 'admin']

/** `signIn` returns the cookies of a session, `current` the email of the signed-in person. */
type Session = { signIn(user: Person): Promise<string>; current(): Promise<string | null> }

/** Shows who is signed in, and lets you switch. */
export async function devPage(request: Request, { signIn, current }: Session): Promise<Response> {
  if (request.method !== 'POST') return page(await current())
  const { origin, host } = { origin: request.headers.get('origin'), host: request.headers.get('host') }
  if (origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host))
    return new Response('Not from here', { status: 403 })
  const form = await request.formData()
  const email = String(form.get('email') ?? '')
  const role = ROLES.find((one) => one === form.get('role')) ?? 'guest'
  const headers = new Headers({ location: '/' })
  const cookies = email === '' ? NO_SESSION : await signIn({ email, role })
  for (const cookie of cookies.split('; '))
    headers.append(
      'set-cookie',
      `${cookie}; Path=/; HttpOnly; SameSite=Lax${email === '' ? '; Max-Age=0' : ''}`,
    )
  return new Response(null, { status: 303, headers })
}

const page = (email: string | null): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Who is signed in</title>
<h1>Who is signed in</h1>
<p>${email === null ? 'Nobody' : Bun.escapeHTML(email)}</p>
<form method="post">
  <p><label>Email <input name="email" type="email"></label> (empty: nobody)</p>
  <p><label>Role <select name="role">${ROLES.map((role) => `<option>${role}</option>`).join('')}</select></label></p>
  <button type="submit">Go on as this person</button>
</form>
<p><a href="/">Back to the site</a></p>
`,
    { headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } },
  )
