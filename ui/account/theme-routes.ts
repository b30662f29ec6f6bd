import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { factsOf } from '../../src/http/request-facts.ts'
import { readForm, UNREAD_BODY } from '../frame/form.ts'
import { seeOther } from '../frame/page-request.ts'
import { themeCookie } from '../frame/theme.ts'

/** The theme belongs to the browser, so it needs no account. contract 17.10. */
export const themePages = (ctx: Context) =>
  new Elysia().post(
    '/theme',
    async ({ request }) => {
      const form = await readForm(ctx, request)
      const answer = seeOther(cameFrom(request))
      answer.headers.append('set-cookie', themeCookie(request, form.text('theme')))
      return answer
    },
    UNREAD_BODY,
  )

/** The page with the menu, by the header that browsers send with a form to their own host. */
function cameFrom(request: Request): string {
  const from = URL.parse(request.headers.get('referer') ?? '')
  return from?.host === factsOf(request).hostWithPort ? `${from.pathname}${from.search}` : '/'
}
