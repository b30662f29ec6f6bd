import type { Caller, Context } from '../../src/context.ts'
import type { ProjectAction } from '../../src/domain/access.ts'
import { AppError } from '../../src/domain/errors.ts'
import { listAliases } from '../../src/modules/aliases/service.ts'
import { authorize, type Grant, mayDo } from '../../src/modules/auth/authorize.ts'
import { aboutProject, getProject, type ProjectView } from '../../src/modules/projects/service.ts'
import type { FormError } from '../components/field.ts'
import { carryingChange } from './change-cookie.ts'
import { type Form, marked, unknownIntent } from './form.ts'
import { lastAnswer, obeyLast, obeyOnce } from './obey-once.ts'
import { decidedForm, expectedFailure, queryOf, seeOther, type Viewer, viewerOf } from './page-request.ts'

/** Which action each of `Can` stands for. */
export const CAN = {
  publish: 'deployment:create',
  moveAliases: 'alias:write',
  endPreviews: 'preview:end',
  manageAliases: 'alias:manage',
  deleteDeployments: 'deployment:delete',
  configureTraffic: 'traffic:configure',
  manageDomains: 'domain:manage',
  managePeople: 'permission:manage',
  seeSecrets: 'secret:names',
  manageSecrets: 'secret:manage',
  manageSettings: 'settings:manage',
  transfer: 'ownership:transfer',
  readAnalytics: 'analytics:read',
  readAudit: 'audit:read',
  manageWebhooks: 'webhook:manage',
  manageRetention: 'retention:manage',
  deleteProject: 'project:delete',
} as const satisfies Record<string, ProjectAction>

/** What the person may do in the project. Pages hide the rest, and each form is authorized again when it arrives. */
export type Can = Record<keyof typeof CAN, boolean>

/** A project and the access of the person who views it. */
export type Looking = { caller: Caller; user: Viewer; grant: Grant; project: ProjectView; can: Can }

/** Throws 401, 403 or 404 unless the person may view this part of the project. */
export function lookAt(
  ctx: Context,
  request: Request,
  projectId: string,
  action: ProjectAction = 'project:read',
): Looking {
  const { caller, user } = viewerOf(ctx, request)
  const grant = authorize(ctx, caller, action, aboutProject(ctx, projectId), true)
  return { caller, user, grant, project: getProject(ctx, grant), can: canOf(ctx, caller, projectId) }
}

/** The workspace for one of its admins. Throws 401 or 403 for anybody else. */
export function administer(ctx: Context, request: Request): { caller: Caller; user: Viewer; grant: Grant } {
  const { caller, user } = viewerOf(ctx, request)
  return { caller, user, grant: authorize(ctx, caller, 'workspace:administer', undefined, true) }
}

function canOf(ctx: Context, caller: Caller, projectId: string): Can {
  const entries = Object.entries(CAN).map(([name, action]) => [
    name,
    mayDo(ctx, caller, action, projectId, false),
  ])
  return Object.fromEntries(entries) as Can
}

/** Alias names to choose from: the 100 that changed last. */
export const aliasNamesOf = (ctx: Context, { grant, project }: Looking): string[] =>
  listAliases(ctx, grant, { projectId: project.id, limit: '100', sort: 'updatedAt' }).data.map(
    ({ name }) => name,
  )

/** A rejected form: which one, why, and what was typed. */
export type Failed = { intent: string; error: FormError; values: Readonly<Record<string, string>> }

/** What an `intent` gets. It returns the address to redirect to, or a complete response. */
export type Doing = { grant: Grant; form: Form; caller: Caller }
export type Intent = {
  /** Set if the intent needs more than the page's own action. */
  action?: ProjectAction
  /**
   * A double click counts once. Set it if the intent creates or deletes something, or fails if the thing has changed
   * since the page was rendered. Omit it if a repetition may be intended, such as moving up one place.
   */
  isOnce?: true
  /** Set it if the page goes with what the intent deletes. A double click counts once here too. */
  isLast?: true
  run(doing: Doing): string | Response | Promise<string | Response>
}

type Forms = {
  intents: Readonly<Record<string, Intent>>
  /** Set if the form may be larger than the default. */
  maxFormBytes?: number
  /** Shows the page again, with the error. */
  show(failed: Failed): Response | Promise<Response>
}

type ProjectForms = Forms & {
  projectId: string
  /** The access that every form of this page needs. Without it, the request is rejected before the form is read. */
  action: ProjectAction
}

export async function submitProjectForm(
  ctx: Context,
  request: Request,
  page: ProjectForms,
): Promise<Response> {
  const about = aboutProject(ctx, page.projectId)
  try {
    return await submitForm(ctx, request, page, (caller, action = page.action) =>
      authorize(ctx, caller, action, about, false),
    )
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.kind !== 'not_found') throw thrown
    const answer = await lastAnswer(ctx, request, viewerOf(ctx, request).user.id)
    if (answer === undefined) throw thrown
    return answer
  }
}

/** Forms of the workspace, for global admins. */
export const submitWorkspaceForm = (ctx: Context, request: Request, page: Forms): Promise<Response> =>
  submitForm(ctx, request, page, (caller) => authorize(ctx, caller, 'workspace:administer', undefined, false))

/** A form of a signed-in person. `decide` authorizes the form itself, or the action that an intent also needs. */
export async function submitForm(
  ctx: Context,
  request: Request,
  { intents, maxFormBytes, show }: Forms,
  decide: (caller: Caller, action?: ProjectAction) => Grant,
): Promise<Response> {
  const { form, caller, user, grant } = await decidedForm(ctx, request, decide, maxFormBytes)
  const name = form.text('intent')
  const intent = intentOf(intents, name)
  const allowed = intent.action === undefined ? grant : decide(caller, intent.action)
  const obey = () =>
    answerForm(
      () => intent.run({ grant: allowed, form, caller }),
      (error) => show({ intent: name, error, values: form.all() }),
    ).then((answer) => carryingChange(request, answer, allowed.actor))
  if (intent.isLast) return obeyLast(ctx, request, user.id, obey)
  return intent.isOnce ? obeyOnce(ctx, request, { form, sender: user.id }, obey) : obey()
}

function intentOf(intents: Readonly<Record<string, Intent>>, name: string): Intent {
  const intent = Object.hasOwn(intents, name) ? intents[name] : undefined
  if (intent === undefined) throw unknownIntent()
  return intent
}

export async function answerForm(
  run: () => string | Response | Promise<string | Response>,
  show: (error: AppError) => Response | Promise<Response>,
): Promise<Response> {
  try {
    const result = await run()
    return typeof result === 'string' ? seeOther(result) : result
  } catch (thrown) {
    return show(expectedFailure(thrown))
  }
}

/** The notice for `?done=`, which a redirect carries. */
export function doneNotice(request: Request, sentences: Readonly<Record<string, string>>) {
  const done = queryOf(request, 'done') ?? ''
  const message = Object.hasOwn(sentences, done) ? sentences[done] : undefined
  return message === undefined ? [] : [{ tone: 'good' as const, message }]
}

/** For actions that cannot be undone and take data along: throws unless the form repeats the word. */
export function requireTyped(form: Form, expected: string): void {
  if (form.text('confirm').trim().toLowerCase() === expected.toLowerCase()) return
  throw marked({ path: 'confirm', message: `Type ${expected} to confirm.` })
}

/** `?a=1&b=2` from all entries with a value; empty if there are none. */
export function queryText(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}
