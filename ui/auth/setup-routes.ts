import { Elysia, t } from 'elysia'
import type { Context } from '../../src/context.ts'
import { factsOf, requestState } from '../../src/http/request-facts.ts'
import { authorize } from '../../src/modules/auth/authorize.ts'
import { originOf } from '../../src/modules/auth/caller.ts'
import { credentialsBody } from '../../src/modules/auth/model.ts'
import { completeSetup, workspaceHasAdmin } from '../../src/modules/setup/service.ts'
import { page } from '../components/html.ts'
import { newProjectPanel } from '../deployments/panel-props.ts'
import { publishSnippets } from '../deployments/publish-snippets.ts'
import { checkInput, type Form, readForm, UNREAD_BODY } from '../frame/form.ts'
import { obeyOnce } from '../frame/obey-once.ts'
import { expectedFailure, queryOf, redirectTo, seeOther, viewerOf } from '../frame/page-request.ts'
import { setupDonePage, setupPage } from './setup.ts'

/** The first admin of a fresh server, and what to do next. contract §3. */
export const setupPages = (ctx: Context) =>
  new Elysia()
    .get('/setup', ({ request }) => showSetup(ctx, request))
    .post('/setup', ({ request }) => submitSetup(ctx, request), UNREAD_BODY)
    .get('/welcome', ({ request }) => {
      const { caller, user } = viewerOf(ctx, request)
      authorize(ctx, caller, 'workspace:administer', undefined, true)
      const { baseDomain, tls } = ctx.config
      const adminUrl = ctx.adminUrl()
      const place = { baseDomain, adminUrl, tls }
      const panel = newProjectPanel(ctx, user.email)
      return page(
        setupDonePage({ apiDocsUrl: '/api/docs', snippets: publishSnippets(adminUrl), place, panel }),
      )
    })

function showSetup(ctx: Context, request: Request): Response {
  if (workspaceHasAdmin(ctx)) return redirectTo(302, '/')
  return page(setupPage({ token: queryOf(request, 'token'), needsToken: needsToken(request) }))
}

async function submitSetup(ctx: Context, request: Request): Promise<Response> {
  const form = await readForm(ctx, request)
  return obeyOnce(ctx, request, { form }, () => makeAdmin(ctx, request, form))
}

async function makeAdmin(ctx: Context, request: Request, form: Form): Promise<Response> {
  if (workspaceHasAdmin(ctx)) return seeOther('/')
  // On the server's own machine, the link of an earlier start counts as no token.
  const setupToken = needsToken(request) ? form.optional('setupToken')?.trim() : undefined
  const input = { email: form.text('email'), password: form.text('password'), setupToken }
  try {
    checkInput(ctx, request, t.Object(credentialsBody), { email: input.email, password: input.password })
    const { setCookies } = await completeSetup(ctx, input, originOf(request))
    requestState(request).setCookies.push(...setCookies)
    return seeOther('/welcome')
  } catch (thrown) {
    const error = expectedFailure(thrown)
    const shown = { token: setupToken, needsToken: needsToken(request), email: input.email, error }
    return page(setupPage(shown), error.status)
  }
}

const needsToken = (request: Request): boolean => !factsOf(request).isDirectLoopback
