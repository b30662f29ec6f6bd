import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { getCertificates, retryWildcard } from '../../src/modules/certificates/service.ts'
import { page } from '../components/html.ts'
import { UNREAD_BODY } from '../frame/form.ts'
import { administer, doneNotice, type Failed, submitWorkspaceForm } from '../frame/project-request.ts'
import { certificatesPage } from './certificates.ts'

export const certificatePages = (ctx: Context) =>
  new Elysia()
    .get('/admin/certificates', ({ request }) => show(ctx, request))
    .post('/admin/certificates', ({ request }) => submit(ctx, request), UNREAD_BODY)

function show(ctx: Context, request: Request, failed?: Failed): Response {
  const { user, grant } = administer(ctx, request)
  const { baseDomain, adminHost } = ctx.config
  const notices = doneNotice(request, { certified: 'The certificate was issued.' })
  const found = getCertificates(ctx, grant)
  return page(certificatesPage({ user, found, baseDomain, adminHost, failed, notices }), failed?.error.status)
}

const submit = (ctx: Context, request: Request): Promise<Response> =>
  submitWorkspaceForm(ctx, request, {
    intents: {
      'retry-wildcard': {
        async run({ grant }) {
          const { status, error } = await retryWildcard(ctx, grant)
          const isThere = status === 'valid' && error === null
          return isThere ? '/admin/certificates?done=certified' : '/admin/certificates#wildcard'
        },
      },
    },
    show: (failed) => show(ctx, request, failed),
  })
