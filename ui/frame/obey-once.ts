import type { Context } from '../../src/context.ts'
import { factsOf, requestState } from '../../src/http/request-facts.ts'
import { onePer } from '../../src/platform/one-per.ts'
import { hashToken } from '../../src/platform/tokens.ts'
import type { Form } from './form.ts'

/** As long as the admin pages' script blocks a second click (assets/app.js); a test keeps both equal. */
export const AGAIN_MS = 5000

type Answer = { response: Response; setCookies: readonly string[] }

type Kept = {
  answer: Promise<Answer>
  /** Milliseconds since 1970; infinite while the form is being processed. */
  until: number
}

/** Responses by what was sent. Kept only briefly, because some contain cookies and keys. */
const keptOf = onePer((_: Context) => new Map<string, Kept>())

type Sent = {
  form: Form
  /** The sender, if the form does not name them. Nobody else gets the response. */
  sender?: string | undefined
}

/**
 * Processes a form once even if a double click sends it twice. The browser shows only the second response, which would
 * say that the link is used up or the account exists, so the second request gets the first response, including cookies.
 * It must be the same form of the same rendered page, with the same password or code, from the same address. A rejected
 * form may be sent again.
 */
export async function obeyOnce(
  ctx: Context,
  request: Request,
  { form, sender = '' }: Sent,
  obey: () => Promise<Response>,
): Promise<Response> {
  if (form.pageId === undefined) return obey()
  const key = keyOf(request, sender, form.pageId, form.all())
  const former = keptOf(ctx).get(key)
  if (former !== undefined && ctx.now() < former.until) return repeat(request, await former.answer)
  return keepFor(ctx, key, { answer: answerTo(request, obey), until: Number.POSITIVE_INFINITY })
}

/**
 * For a form whose page goes with what it does, such as the deletion of a project: a second click is refused before its
 * form is read. `lastAnswer` gives it the answer of the first.
 */
export const obeyLast = (
  ctx: Context,
  request: Request,
  sender: string,
  obey: () => Promise<Response>,
): Promise<Response> =>
  keepFor(ctx, keyOf(request, sender), {
    answer: answerTo(request, obey),
    until: Number.POSITIVE_INFINITY,
  })

/** The answer to the last form that this sender could send to this page, if that was a moment ago. */
export async function lastAnswer(
  ctx: Context,
  request: Request,
  sender: string,
): Promise<Response | undefined> {
  const last = keptOf(ctx).get(keyOf(request, sender))
  return last !== undefined && ctx.now() < last.until ? repeat(request, await last.answer) : undefined
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

/** The response with the cookies it sets, without those that renew the sender's own session anyway. */
async function answerTo(request: Request, obey: () => Promise<Response>): Promise<Answer> {
  const before = requestState(request).setCookies.slice()
  const response = await obey()
  return {
    response,
    setCookies: requestState(request).setCookies.filter((cookie) => !before.includes(cookie)),
  }
}

function repeat(request: Request, { response, setCookies }: Answer): Response {
  if (setCookies.length > 0) requestState(request).setCookies = [...setCookies]
  return response.clone()
}

function keyOf(request: Request, sender: string, ...content: unknown[]): string {
  const { pathname, search } = new URL(request.url)
  const agent = request.headers.get('user-agent')
  const { ip, hostWithPort } = factsOf(request)
  return hashToken(JSON.stringify([hostWithPort, pathname, search, sender, ip, agent, ...content]))
}
