import type { Context } from '../src/context.ts'
import { factsOf, notedOf } from '../src/http/request-facts.ts'
import { onePer } from '../src/platform/one-per.ts'
import { hashToken } from '../src/platform/tokens.ts'
import type { Form } from './form.ts'

/** As long as the script of the admin pages holds a second click back (assets/app.js). */
const AGAIN_MS = 5000

type Answer = { response: Response; setCookies: readonly string[] }

type Kept = {
  answer: Promise<Answer>
  /** Milliseconds since 1970; endless while it is worked on. */
  until: number
}

/** By what was sent. Only while it is worked on and shortly after, because some of it holds cookies and keys. */
const keptOf = onePer((_: Context) => new Map<string, Kept>())

type Sent = {
  form: Form
  /** Whose form it is, where that is not in the form: nobody else gets the answer. */
  sender?: string | undefined
}

/**
 * Does what a form asks for once, also where it is sent twice by a double click: the browser shows only the second answer,
 * which would say that the link is used up or the account exists. The second gets the answer of the first, cookies too;
 * for that it has to be the very form of the same showing of the page, with the same password or code, and from the same
 * address. What was refused may be tried again.
 */
export async function obeyOnce(
  ctx: Context,
  request: Request,
  { form, sender = '' }: Sent,
  obey: () => Promise<Response>,
): Promise<Response> {
  if (form.sheet === undefined) return obey()
  const key = keyOf(request, form, sender)
  const former = keptOf(ctx).get(key)
  if (former !== undefined && ctx.now() < former.until) return repeat(request, await former.answer)
  return keepFor(ctx, key, { answer: answerTo(request, obey), until: Number.POSITIVE_INFINITY })
}

async function keepFor(ctx: Context, key: string, kept: Kept): Promise<Response> {
  const all = keptOf(ctx)
  const forget = () => {
    if (all.get(key) === kept) all.delete(key)
  }
  all.set(key, kept)
  try {
    const { response } = await kept.answer
    kept.until = ctx.now() + AGAIN_MS
    if (response.status < 400) setTimeout(forget, AGAIN_MS).unref()
    else forget()
    return response.clone()
  } catch (thrown) {
    forget()
    throw thrown
  }
}

/** With the cookies that it sets; those of the sender's own session that were due anyway are no part of it. */
async function answerTo(request: Request, obey: () => Promise<Response>): Promise<Answer> {
  const before = notedOf(request).setCookies.slice()
  const response = await obey()
  return { response, setCookies: notedOf(request).setCookies.filter((cookie) => !before.includes(cookie)) }
}

function repeat(request: Request, { response, setCookies }: Answer): Response {
  if (setCookies.length > 0) notedOf(request).setCookies = [...setCookies]
  return response.clone()
}

function keyOf(request: Request, form: Form, sender: string): string {
  const { pathname, search } = new URL(request.url)
  const agent = request.headers.get('user-agent')
  const { ip, hostWithPort } = factsOf(request)
  return hashToken(
    JSON.stringify([hostWithPort, pathname, search, sender, ip, agent, form.sheet, form.all()]),
  )
}
