import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { cookieNames, setCookie } from '../../src/domain/cookies.ts'
import { skipBody } from '../../src/http/held-body.ts'
import { factsOf } from '../../src/http/request-facts.ts'
import { cookieDomain } from '../../src/modules/auth/sessions.ts'
import { html, page, renderPart } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { UNREAD_BODY } from '../frame/form.ts'
import { seeOther } from '../frame/page-request.ts'
import { clearCookiesPage } from './clear-cookies.ts'

/** On every host. contract 12.6. */
export const CLEAR_COOKIES = '/_svc/clear-cookies'

const MANY_BYTES = 12 * 1024
const MAX_NAMES = 200

/** Takes away the cookies of a browser that sends too many. */
export const cookiePages = (ctx: Context) =>
  new Elysia()
    .get(CLEAR_COOKIES, ({ request }) =>
      page(clearCookiesPage({ host: factsOf(request).host, action: CLEAR_COOKIES })),
    )
    .post(
      CLEAR_COOKIES,
      async ({ request }) => {
        await skipBody(ctx, request)
        return cleared(ctx, request)
      },
      UNREAD_BODY,
    )

/** Adds a link to the page above while the browser sends so many cookies that it may soon be locked out. */
export function withCookieNotice(request: Request, answer: Response): Response {
  const cookies = request.headers.get('cookie') ?? ''
  const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true
  if (cookies.length <= MANY_BYTES || !isPage) return answer
  return new HTMLRewriter()
    .on('main', { element: (main) => void main.prepend(renderPart(manyCookies()), { html: true }) })
    .transform(answer)
}

const manyCookies = () =>
  notice({
    tone: 'warn',
    message: html`
      Your browser sends more than 12 KiB of cookies to this address. With much more it is locked out.
      ${' '}<a href=${CLEAR_COOKIES}>Clear them</a>.
    `,
  })

/** `Clear-Site-Data` counts over HTTPS alone, and not in every browser. */
function cleared(ctx: Context, request: Request): Response {
  const { host, isSecure } = factsOf(request)
  const answer = seeOther('/')
  answer.headers.set('clear-site-data', '"cookies"')
  for (const name of cookieNames(request.headers.get('cookie')).slice(0, MAX_NAMES))
    for (const domain of new Set([null, cookieDomain(ctx, host)]))
      answer.headers.append('set-cookie', setCookie(name, '', { domain, maxAgeSeconds: 0, isSecure }))
  return answer
}
