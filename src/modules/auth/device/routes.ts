import { Elysia, t } from 'elysia'
import type { Context } from '../../../context.ts'
import { originOf } from '../caller.ts'
import { askForLogin, decideDevice, getAskingDevice, redeemDevice, refusal } from '../device.ts'
import { guard } from '../guard.ts'
import { userView } from '../model.ts'
import { codesBody, GRANT_TYPE, tokenBody } from './docs.ts'
import { clientNameOf, readFields } from './fields.ts'

const codesView = t.Object({
  device_code: t.String(),
  user_code: t.String(),
  verification_uri: t.String(),
  verification_uri_complete: t.String(),
  expires_in: t.Integer(),
  interval: t.Integer(),
})
const tokenView = t.Object({ access_token: t.String(), token_type: t.Literal('Bearer'), user: userView })
const askingView = t.Object({
  clientName: t.String(),
  ip: t.String(),
  createdAt: t.String(),
  expiresAt: t.String(),
})

/** `svc login`: a device asks, a person decides in the browser. contract 16 §7. */
export const deviceRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/auth/device', tags: ['Auth'] })
    .post(
      '/code',
      async ({ request, set }) => {
        set.headers['cache-control'] = 'no-store'
        return askForLogin(ctx, clientNameOf(await readFields(ctx, request)), originOf(request))
      },
      {
        parse: 'none',
        response: codesView,
        detail: {
          summary: 'Ask to be let in as somebody: codes for `svc login` (RFC 8628)',
          requestBody: codesBody,
          security: [],
        },
      },
    )
    .post(
      '/token',
      async ({ request, set }) => {
        set.headers['cache-control'] = 'no-store'
        const fields = await readFields(ctx, request)
        if (fields['grant_type'] !== GRANT_TYPE)
          throw refusal('unsupported_grant_type', `grant_type must be ${GRANT_TYPE}`)
        return redeemDevice(ctx, String(fields['device_code'] ?? ''), originOf(request))
      },
      {
        parse: 'none',
        response: tokenView,
        detail: {
          summary: 'The token of a device that was let in, once (RFC 8628)',
          requestBody: tokenBody,
          security: [],
        },
      },
    )
    .use(decisionRoutes(ctx))

const decisionRoutes = (ctx: Context) =>
  new Elysia()
    .use(guard(ctx))
    .get('/:userCode', ({ grant, params }) => getAskingDevice(ctx, grant, params.userCode), {
      may: { action: 'account:use' },
      response: askingView,
      detail: { summary: 'Which device asks with this code', security: [{ session: [] }] },
    })
    .post(
      '/approve',
      ({ grant, body }) => {
        decideDevice(ctx, grant, body)
        return { success: true as const, approved: body.approve }
      },
      {
        may: { action: 'account:use' },
        body: t.Object({
          userCode: t.String({ error: 'The code that the device shows', examples: ['BCDF-GHJK'] }),
          approve: t.Boolean({ error: 'true to let the device in, false to refuse it', examples: [true] }),
        }),
        response: t.Object({ success: t.Literal(true), approved: t.Boolean() }),
        detail: { summary: 'Let a device in, or refuse it', security: [{ session: [] }] },
      },
    )
