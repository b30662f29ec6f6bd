import type { Caller, Context } from '../../src/context.ts'
import type { SessionUser } from '../../src/domain/actor.ts'
import { AppError } from '../../src/domain/errors.ts'
import { acceptsHtml } from '../../src/http/accepts-html.ts'
import { errorResponse, toAppError } from '../../src/http/error-response.ts'
import { factsOf, requestState } from '../../src/http/request-facts.ts'
import type { Grant } from '../../src/modules/auth/authorize.ts'
import { callerOf } from '../../src/modules/auth/caller.ts'
import { destinationOf, visitAddress } from '../../src/modules/auth/handover.ts'
import type { SignedIn } from '../../src/modules/auth/sessions.ts'
import { reachesAny } from '../../src/modules/members/reach.ts'
import { sentence } from '../components/field.ts'
import { type Html, page } from '../components/html.ts'
import { type ContinuePageProps, continuePage } from './continue.ts'
import { type ErrorPageProps, errorPage } from './error.ts'
import { type Form, readForm } from './form.ts'
import { withRedirect } from './with-redirect.ts'

/** The person who views a page. Throws `unauthenticated`, which leads to the sign-in page. */
export function viewerOf(ctx: Context, request: Request): { caller: Caller; user: Viewer } {
  const caller = callerOf(ctx, request, 'ignore')
  if (caller.actor.kind !== 'user') throw new AppError('unauthenticated', 'Sign in to see this page.')
  return { caller, user: asViewer(ctx, caller.actor.user) }
}

export type Viewer = SessionUser & { isGuest: boolean }

/** A guest is a global member who is nowhere viewer or more. contract 17.12. */
export const asViewer = (ctx: Context, user: SessionUser): Viewer => ({
  ...user,
  isGuest: user.role === 'member' && !reachesAny(ctx, user.id),
})

/**
 * A posted form and the access of its sender. `decide` runs before the form is read, so that only permitted forms are
 * read, and again afterwards, because the sender's role may have changed while the form came in.
 */
export async function decidedForm(
  ctx: Context,
  request: Request,
  decide: (caller: Caller) => Grant,
  maxBytes?: number,
): Promise<{ form: Form; caller: Caller; user: Viewer; grant: Grant }> {
  decide(viewerOf(ctx, request).caller)
  const form = await readForm(ctx, request, maxBytes)
  const viewer = viewerOf(ctx, request)
  return { form, ...viewer, grant: decide(viewer.caller) }
}

export const queryOf = (request: Request, name: string): string | undefined =>
  new URL(request.url).searchParams.get(name) || undefined

/** Returns an error that the form's page can show. Rethrows anything else, which leads to the error page. */
export function expectedFailure(thrown: unknown): AppError {
  if (thrown instanceof AppError && thrown.status < 500) return thrown
  throw thrown
}

/** 303 after a form, so that reloading does not send it again. RFC 9110 §15.4.4. */
export const seeOther = (location: string): Response => redirectTo(303, location)

export const redirectTo = (status: 302 | 303, location: string): Response =>
  new Response(null, { status, headers: { location, 'cache-control': 'no-store' } })

/** Sends a person who has just signed in to their destination, with a page in between if it may be on another host. */
export function arrive(
  ctx: Context,
  request: Request,
  signedIn: SignedIn,
  address: string | undefined,
): Response {
  requestState(request).setCookies = signedIn.setCookies
  const target = destinationOf(ctx, factsOf(request), signedIn, address) ?? '/'
  const { host, pathname } = new URL(target, request.url)
  const isOnThisHost = target.startsWith('/') || host === factsOf(request).hostWithPort
  return isOnThisHost && !PATH_FORM.test(pathname) ? seeOther(target) : leadOn(target)
}

/** The link to a site for this person. */
export const visitUrl = (ctx: Context, request: Request, site: { url: string; isPublic: boolean }): string =>
  visitAddress(ctx, factsOf(request), site)

/** Paths of content, which redirect to the host of its site. */
const PATH_FORM = /^\/(public|repo)\//

/** After a form, browsers block redirects to other hosts (`form-action 'self'`) but not a page that forwards. */
export const leadOn = (url: string, after: ContinuePageProps['after'] = 'sign-in'): Response =>
  page(continuePage({ url, after }))

/** An error as a page. Clients that do not accept HTML get the API's error body. */
export function failurePage(
  ctx: Pick<Context, 'log'>,
  request: Request,
  error: unknown,
  show: ShowFailure = errorPage,
): Response {
  const failure = toAppError(ctx, error, request)
  return acceptsHtml(request) ? showFailure(failure, failure.headers, show) : errorResponse(failure)
}

type ShowFailure = (props: ErrorPageProps) => Html

/** Shows errors as pages for the API calls that browsers visit while signing in. */
export async function visitedAnswer(request: Request, answer: Response): Promise<Response> {
  const isShown = answer.status >= 400 && acceptsHtml(request)
  if (!isShown) return answer
  const { message } = await answer.json()
  return showFailure({ status: answer.status, message }, answer.headers)
}

function showFailure(
  { status, message }: { status: number; message: string },
  headers: HeadersInit,
  show: ShowFailure = errorPage,
): Response {
  const { title, hint } = WORDS[status] ?? UNFORESEEN
  return page(show({ status, title, message: sentence(message), hint }), status, headers)
}

/** Redirects to the sign-in page and from there back here. */
export function toSignIn(request: Request): Response {
  const { pathname, search } = new URL(request.url)
  return seeOther(withRedirect('/signin', pathname === '/' ? undefined : `${pathname}${search}`))
}

type Words = { title: string; hint?: string }

const UNFORESEEN: Words = {
  title: 'The server failed',
  hint: 'Try again, or ask the operator of the server.',
}

/** Titles and hints by status. */
const WORDS: Readonly<Record<number, Words>> = {
  400: { title: 'That did not work' },
  401: { title: 'Sign in first' },
  403: { title: 'Not allowed' },
  404: { title: 'Page not found', hint: 'Check the spelling, or go back to where you came from.' },
  405: { title: 'Not possible here' },
  408: { title: 'That took too long' },
  409: { title: 'That did not work' },
  413: { title: 'The request is too large' },
  415: { title: 'That did not work' },
  429: { title: 'Too many attempts' },
  503: { title: 'The server is too busy' },
  507: { title: 'There is no room', hint: 'Ask the operator of the server for room.' },
}
