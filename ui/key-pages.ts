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
import { checkInput, type Form, marked } from './form.ts'
import { page } from './html.ts'
import { queryOf, viewerOf } from './page-request.ts'
import { type KeysPageProps, keysPage } from './pages/admin/keys.ts'
import { type Doing, submitWorkspaceForm } from './project-request.ts'

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

const submitKeys = (ctx: Context, request: Request): Promise<Response> =>
  submitWorkspaceForm(ctx, request, {
    intents: {
      'create-key': {
        isOnce: true,
        run: (doing) => makeKey(ctx, request, doing),
      },
      'revoke-key': {
        isOnce: true,
        run({ grant, form }) {
          revokeKey(ctx, grant, form.text('keyId'))
          return '/keys?done=revoked'
        },
      },
    },
    show: (failed) => showKeys(ctx, request, { failed }),
  })

/** The key is shown in this answer and never again, so it is no redirect. */
function makeKey(ctx: Context, request: Request, { grant, form }: Doing): Response {
  const input = newKey(ctx, form)
  checkInput(ctx, request, newKeyBody, input)
  const { key } = createKey(ctx, grant, input)
  return showKeys(ctx, request, { created: { name: input.name, key } })
}

function newKey(ctx: Context, form: Form): NewApiKey {
  const scope = form.text('scope')
  const lifetime = form.optional('expiresInDays')
  const days = lifetime === undefined ? undefined : Number(lifetime)
  if (days !== undefined && !(Number.isInteger(days) && days >= 1 && days <= 3650))
    throw marked({ path: 'expiresInDays', message: 'Choose one of the list.' })
  return {
    name: form.text('name').trim(),
    ...(scope === 'global' ? { isGlobal: true } : { projectId: scope }),
    ...(days === undefined ? {} : { expiresAt: isoTime(ctx.now() + days * DAY_MS) }),
  }
}
