import type { Context } from '../../src/context.ts'
import script from './svc-auth.mjs' with { type: 'text' }

/** Sites write the address by hand, so it has no hash. Browsers revalidate it and mostly get 304. */
export function authDialogAnswer(ctx: Pick<Context, 'adminUrl' | 'mail'>, request: Request): Response {
  // Only the address of the account hub and whether there is mail depend on the server.
  const body = script
    .replace("'%ADMIN_URL%'", JSON.stringify(ctx.adminUrl()))
    .replace("'%CAN_MAIL%'", String(ctx.mail.isConfigured))
  const etag = `"${new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 16)}"`
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, no-cache',
    'x-content-type-options': 'nosniff',
    etag,
  }
  const isKnown = request.headers.get('if-none-match')?.includes(etag) ?? false
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(body, { headers })
}
