import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { DAY_MS } from '../../src/domain/durations.ts'
import { isoTime } from '../../src/domain/iso-time.ts'
import { newKeyBody } from '../../src/modules/api-keys/model.ts'
import {
  createKey,
  listKeys,
  type NewApiKey,
  revokeKey,
  suspendedKeys,
  takeOverKey,
} from '../../src/modules/api-keys/service.ts'
import { authorize } from '../../src/modules/auth/authorize.ts'
import { listProjectNames } from '../../src/modules/projects/service.ts'
import { page } from '../components/html.ts'
import { checkInput, type Form, marked, UNREAD_BODY } from '../frame/form.ts'
import { pageOf } from '../frame/page-of.ts'
import { queryOf, viewerOf } from '../frame/page-request.ts'
import { type Doing, doneNotice, queryText, submitWorkspaceForm } from '../frame/project-request.ts'
import { type KeysPageProps, keysPage } from './keys.ts'

/** API keys, for global admins only. contract §7. */
export const keyPages = (ctx: Context) =>
  new Elysia()
    .get('/keys', ({ request }) => {
      const notices = doneNotice(request, {
        revoked: 'The key was revoked.',
        'taken-over': 'The key works again and is yours.',
      })
      return showKeys(ctx, request, { notices })
    })
    .post('/keys', ({ request }) => submitKeys(ctx, request), UNREAD_BODY)

type Shown = Pick<KeysPageProps, 'created' | 'failed' | 'notices'>

function showKeys(ctx: Context, request: Request, shown: Shown): Response {
  const { caller, user } = viewerOf(ctx, request)
  const grant = authorize(ctx, caller, 'workspace:administer', undefined, true)
  const projects = listProjectNames(ctx, authorize(ctx, caller, 'project:list', undefined, true))
  const found = pageOf(request, 'page', (asked) => listKeys(ctx, grant, asked))
  const suspended = suspendedKeys(ctx, grant)
  return page(keysPage({ user, found, projects, suspended, ...shown }), shown.failed?.error.status)
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
          return `/keys${queryText({ done: 'revoked', page: queryOf(request, 'page') })}`
        },
      },
      'take-over-key': {
        isOnce: true,
        run({ grant, form }) {
          takeOverKey(ctx, grant, form.text('keyId'))
          return `/keys${queryText({ done: 'taken-over', page: queryOf(request, 'page') })}`
        },
      },
    },
    show: (failed) => showKeys(ctx, request, { failed }),
  })

/** Only this response shows the key, so it is not a redirect. */
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
    throw marked({ path: 'expiresInDays', message: 'Choose one from the list.' })
  return {
    name: form.text('name').trim(),
    ...(scope === 'global' ? { isGlobal: true } : { projectId: scope }),
    ...(days === undefined ? {} : { expiresAt: isoTime(ctx.now() + days * DAY_MS) }),
  }
}
