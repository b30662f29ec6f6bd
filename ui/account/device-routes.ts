import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import type { AppError } from '../../src/domain/errors.ts'
import { authorize, personOf } from '../../src/modules/auth/authorize.ts'
import { decideDevice, getAskingDevice, shownCode, typedCode } from '../../src/modules/auth/device.ts'
import { page } from '../components/html.ts'
import { UNREAD_BODY, unknownIntent } from '../frame/form.ts'
import { obeyOnce } from '../frame/obey-once.ts'
import { decidedForm, expectedFailure, queryOf, seeOther, viewerOf } from '../frame/page-request.ts'
import { deviceDonePage, devicePage } from './device.ts'

/** The page that `svc login` leads to. contract 16 §7. */
export const devicePages = (ctx: Context) =>
  new Elysia()
    .get('/device', ({ request }) => showDevice(ctx, request))
    .post('/device', ({ request }) => submitDevice(ctx, request), UNREAD_BODY)

function showDevice(ctx: Context, request: Request): Response {
  const { caller, user } = viewerOf(ctx, request)
  const grant = authorize(ctx, caller, 'account:use', undefined, true)
  const typed = queryOf(request, 'code')
  if (typed === undefined) return page(devicePage({ email: user.email, code: '' }))
  const code = shownCode(typedCode(typed))
  try {
    return page(devicePage({ email: user.email, code, asking: getAskingDevice(ctx, grant, code) }))
  } catch (thrown) {
    return failed(user.email, code, expectedFailure(thrown))
  }
}

const failed = (email: string, code: string, error: AppError): Response =>
  page(devicePage({ email, code, error }), error.status, error.headers)

async function submitDevice(ctx: Context, request: Request): Promise<Response> {
  const { grant, form, user } = await decidedForm(ctx, request, (caller) =>
    authorize(ctx, caller, 'account:use', undefined, false),
  )
  return obeyOnce(ctx, request, { form, sender: personOf(grant).user.id }, async () => {
    const intent = form.text('intent')
    const userCode = form.text('userCode')
    if (intent === 'look')
      return seeOther(`/device?code=${encodeURIComponent(shownCode(typedCode(userCode)))}`)
    if (intent !== 'approve' && intent !== 'deny') throw unknownIntent()
    try {
      decideDevice(ctx, grant, { userCode, approve: intent === 'approve' })
      return page(deviceDonePage({ isApproved: intent === 'approve' }))
    } catch (thrown) {
      return failed(user.email, shownCode(typedCode(userCode)), expectedFailure(thrown))
    }
  })
}
