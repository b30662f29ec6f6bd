import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import type { ReleaseChecks } from '../../src/domain/release-checks.ts'
import {
  getReleaseChecks,
  removeReleaseChecks,
  setReleaseChecks,
} from '../../src/modules/releases/service.ts'
import { page } from '../components/html.ts'
import { type Form, UNREAD_BODY } from '../frame/form.ts'
import { type Doing, doneNotice, type Failed, lookAt, submitProjectForm } from '../frame/project-request.ts'
import { releaseChecksPage } from './release-checks.ts'

/** What an upload must pass before its alias moves. contract 13 §8. */
export const releasePages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/release-checks', ({ request, params }) => show(ctx, request, params.id))
    .post(
      '/projects/:id/release-checks',
      ({ request, params }) => submit(ctx, request, params.id),
      UNREAD_BODY,
    )

function show(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const notices = doneNotice(request, { saved: 'The release checks were saved.' })
  const checks = getReleaseChecks(ctx, looking.grant)
  return page(releaseChecksPage({ ...looking, checks, failed, notices }), failed?.error.status)
}

const submit = (ctx: Context, request: Request, id: string): Promise<Response> => {
  const changing = (change: (before: ReleaseChecks, form: Form) => unknown) => ({
    run({ grant, form }: Doing) {
      setReleaseChecks(ctx, grant, change(getReleaseChecks(ctx, grant), form))
      return `/projects/${id}/release-checks?done=saved`
    },
  })
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'settings:manage',
    intents: {
      save: changing((before, form) => ({
        ...before,
        startPage: form.isTicked('startPage'),
        aliases: namesOf(form.text('aliases')),
      })),
      add: {
        ...changing((before, form) => ({ ...before, checks: [...before.checks, checkOf(form)] })),
        isOnce: true,
      },
      remove: {
        ...changing((before, form) => ({
          ...before,
          checks: before.checks.filter((check) => JSON.stringify(check) !== form.text('check')),
        })),
        isOnce: true,
      },
      off: {
        isOnce: true,
        run({ grant }) {
          removeReleaseChecks(ctx, grant)
          return `/projects/${id}/release-checks?done=saved`
        },
      },
    },
    show: (failed) => show(ctx, request, id, failed),
  })
}

/** Null for none: all aliases. */
function namesOf(text: string): string[] | null {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  return names.length === 0 ? null : names
}

const checkOf = (form: Form) => ({
  name: form.optional('name')?.trim() || null,
  path: form.text('path').trim(),
  status: numberOf(form, 'status'),
  contains: form.optional('contains') ?? null,
  maxBytes: numberOf(form, 'maxBytes'),
})

/** What is no number stays one that the check refuses. */
function numberOf(form: Form, name: string): number | null {
  const text = form.text(name).trim()
  return text === '' ? null : Number(text)
}
