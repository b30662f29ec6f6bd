import type { Context } from '../src/context.ts'
import { factsOf, notedOf } from '../src/http/request-facts.ts'
import { onePer } from '../src/platform/one-per.ts'
import { hashToken } from '../src/platform/tokens.ts'
import type { Form } from './form.ts'

/** As long as the script of the admin pages holds a second click back (assets/app.js). */
const AGAIN_MS = 5000

type Answer = { response: Response; setCookies: readonly string[] }

/** By what was sent. Only while it is worked on and shortly after, because some of it holds cookies. */
const answersOf = onePer((_: Context) => new Map<string, Promise<Answer>>())

type Sent = {
  form: Form
  /** Whose form it is, where that is not in the form: nobody else gets the answer. */
  sender?: string | undefined
}

/**
 * Does what a form asks for once, also where it is sent twice by a double click: the browser shows only the second answer,
 * which would say that the link is used up or the account exists. The second gets the answer of the first, cookies too;
 * for that it has to hold the same password or code, and come from the same address. What was refused may be tried again.
 */
export async function obeyOnce(
  ctx: Context,
  request: Request,
  { form, sender = '' }: Sent,
  obey: () => Promise<Response>,
): Promise<Response> {
  const answers = answersOf(ctx)
  const key = keyOf(request, form, sender)
  const former = answers.get(key)
  if (former !== undefined) return repeat(request, await former)
  const answer = obey().then((response) => ({ response, setCookies: notedOf(request).setCookies }))
  answers.set(key, answer)
  const forget = () => answers.delete(key)
  try {
    const { response } = await answer
    if (response.status < 400) setTimeout(forget, AGAIN_MS).unref()
    else forget()
    return response.clone()
  } catch (thrown) {
    forget()
    throw thrown
  }
}

function repeat(request: Request, { response, setCookies }: Answer): Response {
  notedOf(request).setCookies = [...setCookies]
  return response.clone()
}

function keyOf(request: Request, form: Form, sender: string): string {
  const { pathname, search } = new URL(request.url)
  const agent = request.headers.get('user-agent')
  const { ip, hostWithPort } = factsOf(request)
  return hashToken(JSON.stringify([hostWithPort, pathname, search, sender, ip, agent, form.all()]))
}
