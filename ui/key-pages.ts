import { Elysia } from 'elysia'
import type { Context } from '../src/context.ts'
import { DAY_MS } from '../src/domain/durations.ts'
import { isoTime } from '../src/domain/iso-time.ts'
import { newKeyBody } from '../src/modules/api-keys/model.ts'
import {
  type ApiKeyView,
  createKey,
  listKeys,
  type NewApiKey,
  revokeKey,
} from '../src/modules/api-keys/service.ts'
import { authorize, type Grant } from '../src/modules/auth/authorize.ts'
import { listProjectNames } from '../src/modules/projects/service.ts'
import { checkInput, type Form, marked, unknownIntent } from './form.ts'
import { page } from './html.ts'
import { decidedForm, expectedFailure, queryOf, seeOther, viewerOf } from './page-request.ts'
import { type KeysPageProps, keysPage, type NewKeyValues } from './pages/admin/keys.ts'

/** API keys: global admins only. contract §7. */
export const keyPages = (ctx: Context) =>
  new Elysia()
    .get('/keys', ({ request }) => {
      const isRevoked = queryOf(request, 'done') === 'revoked'
      return showKeys(ctx, request, isRevoked ? { notices: [REVOKED] } : {})
    })
    .post('/keys', ({ request }) => submitKeys(ctx, request), { parse: 'none' })

const REVOKED = { tone: 'good', message: 'The key is revoked.' } as const

type Shown = Pick<KeysPageProps, 'created' | 'failed' | 'notices'>

function showKeys(ctx: Context, request: Request, shown: Shown): Response {
  const { caller, user } = viewerOf(ctx, request)
  const grant = authorize(ctx, caller, 'workspace:administer', undefined, true)
  const projects = listProjectNames(ctx, authorize(ctx, caller, 'project:list', undefined, true))
  return page(keysPage({ user, keys: allKeys(ctx, grant), projects, ...shown }), shown.failed?.error.status)
}

/** Every key, so that each can be revoked. */
function allKeys(ctx: Context, grant: Grant): ApiKeyView[] {
  const first = listKeys(ctx, grant, { limit: '100' })
  const others = Array.from({ length: Math.max(0, first.pagination.pages - 1) }, (_, at) =>
    listKeys(ctx, grant, { limit: '100', page: at + 2 }),
  )
  return [first, ...others].flatMap(({ data }) => data)
}

async function submitKeys(ctx: Context, request: Request): Promise<Response> {
  const { grant, form } = await decidedForm(ctx, request, (caller) =>
    authorize(ctx, caller, 'workspace:administer', undefined, false),
  )
  switch (form.text('intent')) {
    case 'create-key':
      return submitNewKey(ctx, request, grant, form)
    case 'revoke-key':
      revokeKey(ctx, grant, form.text('keyId'))
      return seeOther('/keys?done=revoked')
    default:
      throw unknownIntent()
  }
}

/** The key is shown in this answer and never again, so it is no redirect. */
function submitNewKey(ctx: Context, request: Request, grant: Grant, form: Form): Response {
  const values = {
    name: form.text('name').trim(),
    scope: form.text('scope'),
    expiresInDays: form.text('expiresInDays'),
  }
  try {
    const input = newKey(ctx, values)
    checkInput(ctx, request, newKeyBody, input)
    const { key } = createKey(ctx, grant, input)
    return showKeys(ctx, request, { created: { name: values.name, key } })
  } catch (thrown) {
    const error = expectedFailure(thrown)
    return showKeys(ctx, request, { failed: { values, error } })
  }
}

function newKey(ctx: Context, { name, scope, expiresInDays }: NewKeyValues): NewApiKey {
  const days = expiresInDays === '' ? undefined : Number(expiresInDays)
  if (days !== undefined && !(Number.isInteger(days) && days >= 1 && days <= 3650))
    throw marked({ path: 'expiresInDays', message: 'Choose one of the list.' })
  return {
    name,
    ...(scope === 'global' ? { isGlobal: true } : { projectId: scope }),
    ...(days === undefined ? {} : { expiresAt: isoTime(ctx.now() + days * DAY_MS) }),
  }
}
