import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { projectPatchBody } from '../../src/modules/projects/model.ts'
import {
  changeProject,
  deleteProject,
  getProject,
  transferOwnership,
} from '../../src/modules/projects/service.ts'
import {
  type DisabledRule,
  deleteSecret,
  listSecrets,
  putSecret,
  type UsableBy,
} from '../../src/modules/secrets/service.ts'
import { readSettings } from '../../src/modules/settings/read-settings.ts'
import { page } from '../components/html.ts'
import { booleanOf, checkInput, type Form, marked, UNREAD_BODY } from '../frame/form.ts'
import { expectedFailure } from '../frame/page-request.ts'
import {
  type Doing,
  doneNotice,
  type Failed,
  lookAt,
  requireTyped,
  submitProjectForm,
} from '../frame/project-request.ts'
import { secretsPage } from './secrets.ts'
import { projectSettingsPage } from './settings.ts'

/** The settings of a project, and its secrets. */
export const settingsPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/settings', ({ request, params }) => showSettings(ctx, request, params.id))
    .post(
      '/projects/:id/settings',
      ({ request, params }) => submitSettings(ctx, request, params.id),
      UNREAD_BODY,
    )
    .get('/projects/:id/secrets', ({ request, params }) => showSecrets(ctx, request, params.id, {}))
    .post(
      '/projects/:id/secrets',
      ({ request, params }) => submitSecrets(ctx, request, params.id),
      UNREAD_BODY,
    )

function showSettings(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id, 'settings:manage')
  const notices = doneNotice(request, { saved: 'Saved.', transferred: 'The project has a new owner.' })
  return page(
    projectSettingsPage({ ...looking, settings: readSettings(ctx), failed, notices }),
    failed?.error.status,
  )
}

const submitSettings = (ctx: Context, request: Request, id: string) => {
  const change = (changeOf: (form: Form) => object) => ({
    run({ grant, form }: Doing) {
      const patch = changeOf(form)
      checkInput(ctx, request, projectPatchBody, patch)
      changeProject(ctx, grant, patch)
      return `/projects/${id}/settings?done=saved`
    },
  })
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'settings:manage',
    intents: {
      general: change((form) => ({
        displayName: form.text('displayName').trim(),
        isSpa: booleanOf(form.text('isSpa')),
        ...daysOf(form),
      })),
      addresses: change((form) => ({
        htmlHandling: form.optional('htmlHandling') ?? null,
        indexing: form.text('indexing'),
      })),
      visibility: change((form) => ({
        isPublic: form.isTicked('isPublic'),
        requiredRole: form.text('requiredRole'),
        privateSiteResponse: form.optional('privateSiteResponse') ?? null,
      })),
      signup: change((form) => ({ allowPublicSignup: form.isTicked('allowPublicSignup') })),
      transfer: {
        action: 'ownership:transfer',
        run: (doing) => transferProject(ctx, id, doing),
      },
      delete: {
        action: 'project:delete',
        isLast: true,
        run: (doing) => removeProject(ctx, doing),
      },
    },
    show: (failed) => showSettings(ctx, request, id, failed),
  })
}

/** An empty field changes nothing. */
const daysOf = (form: Form): { previewDays?: number } => {
  const days = form.optional('previewDays')
  return days === undefined ? {} : { previewDays: Number(days) }
}

/** Previous owners may keep only a role, so they go to the overview. */
function transferProject(ctx: Context, id: string, { grant, form }: Doing): string {
  requireTyped(form, fullName(ctx, grant))
  const email = form.text('email').trim()
  if (email === '') throw marked({ path: 'email', message: 'Enter the email of the new owner.' })
  transferTo(ctx, grant, email)
  return `/projects/${id}/settings?done=transferred`
}

/** An unknown email is a typo, or belongs to somebody who must be invited first. */
function transferTo(ctx: Context, grant: Doing['grant'], email: string): void {
  try {
    transferOwnership(ctx, grant, { email })
  } catch (thrown) {
    const failure = expectedFailure(thrown)
    if (failure.kind !== 'not_found') throw failure
    throw marked({ path: 'email', message: 'No account has this email. Invite them under People first.' })
  }
}

async function removeProject(ctx: Context, { grant, form }: Doing): Promise<string> {
  requireTyped(form, fullName(ctx, grant))
  await deleteProject(ctx, grant)
  return '/?done=deleted'
}

function fullName(ctx: Context, grant: Doing['grant']): string {
  const { owner, name } = getProject(ctx, grant)
  return `${owner}/${name}`
}

type SecretsShown = { failed?: Failed; disabled?: readonly DisabledRule[] }

function showSecrets(
  ctx: Context,
  request: Request,
  id: string,
  { failed, disabled }: SecretsShown,
): Response {
  const looking = lookAt(ctx, request, id, 'secret:names')
  const notices = doneNotice(request, {
    stored: 'The secret was stored.',
    deleted: 'The secret was deleted.',
  })
  const secrets = listSecrets(ctx, looking.grant)
  return page(secretsPage({ ...looking, secrets, disabled, failed, notices }), failed?.error.status)
}

function usableByOf(form: Form): UsableBy | undefined {
  const usableBy = form.optional('usableBy')
  if (usableBy === undefined || usableBy === 'contributor' || usableBy === 'admin') return usableBy
  throw marked({ path: 'usableBy', message: 'Choose one from the list.' })
}

/** Fits the longest value, 64 KiB, as a browser sends it: up to three bytes for one, and six for a line break. */
const MAX_SECRET_FORM_BYTES = 512 * 1024

const submitSecrets = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'secret:manage',
    maxFormBytes: MAX_SECRET_FORM_BYTES,
    intents: {
      put: {
        isOnce: true,
        run({ grant, form }) {
          // Forms send line breaks as CRLF, whatever was pasted.
          const value = form.text('value').replaceAll('\r\n', '\n')
          const usableBy = usableByOf(form)
          const disabled = putSecret(ctx, grant, form.text('name').trim(), value, usableBy)
          // Only this response names the rules, so it is not a redirect.
          if (disabled.length > 0) return showSecrets(ctx, request, id, { disabled })
          return `/projects/${id}/secrets?done=stored`
        },
      },
      delete: {
        isOnce: true,
        run({ grant, form }) {
          deleteSecret(ctx, grant, form.text('name'))
          return `/projects/${id}/secrets?done=deleted`
        },
      },
    },
    // Do not show the value again.
    show: (failed) => {
      const values = { ...failed.values, value: '' }
      return showSecrets(ctx, request, id, { failed: { ...failed, values } })
    },
  })
