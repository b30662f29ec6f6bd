import type { Caller, Context, SessionUser } from '../src/context.ts'
import type { ProjectAction } from '../src/domain/access.ts'
import type { AppError } from '../src/domain/errors.ts'
import { listAliases } from '../src/modules/aliases/service.ts'
import { authorize, type Grant, mayDo } from '../src/modules/auth/authorize.ts'
import { aboutProject, getProject, type ProjectView } from '../src/modules/projects/service.ts'
import type { FormError } from './components/field.ts'
import { type Form, marked, unknownIntent } from './form.ts'
import { obeyOnce } from './obey-once.ts'
import { decidedForm, expectedFailure, queryOf, seeOther, viewerOf } from './page-request.ts'

const CAN = {
  publish: 'deployment:create',
  moveAliases: 'alias:write',
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
  deleteProject: 'project:delete',
} as const satisfies Record<string, ProjectAction>

/** What the person may do on the project: pages leave out the rest. Forms are decided again when they come. */
export type Can = Record<keyof typeof CAN, boolean>

/** A project as one person looks at it. */
export type Looking = { caller: Caller; user: SessionUser; grant: Grant; project: ProjectView; can: Can }

/** Throws 401, 403 or 404 unless the person may look at this part of the project. */
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

/** The workspace as one of its admins looks at it. Throws 401 or 403 for anybody else. */
export function administer(
  ctx: Context,
  request: Request,
): { caller: Caller; user: SessionUser; grant: Grant } {
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

/** Names to choose from; the latest of very many. */
export const aliasNamesOf = (ctx: Context, { grant, project }: Looking): string[] =>
  listAliases(ctx, grant, { projectId: project.id, limit: '100', sort: 'updatedAt' }).data.map(
    ({ name }) => name,
  )

/** A refused form: which one, what was typed, and why not. */
export type Failed = { intent: string; error: FormError; values: Readonly<Record<string, string>> }

/** What `intent` of a form does: the address to go to, or a whole answer. */
export type Doing = { grant: Grant; form: Form; caller: Caller }
export type Intent = {
  /** Needs more than the page's own action. */
  action?: ProjectAction
  /**
   * A double click counts once: for what makes something, takes something away, or is refused where a thing has changed
   * since the page was made. Left out where the same may be meant twice, such as one place up.
   */
  isOnce?: true
  run(doing: Doing): string | Response | Promise<string | Response>
}

type Forms = {
  intents: Readonly<Record<string, Intent>>
  /** More than a form usually has. */
  maxFormBytes?: number
  /** The page again, with what is wrong. */
  show(failed: Failed): Response | Promise<Response>
}

type ProjectForms = Forms & {
  projectId: string
  /** The least that a form of this page needs: whoever may not is refused before the form is read. */
  action: ProjectAction
}

export function submitProjectForm(ctx: Context, request: Request, page: ProjectForms): Promise<Response> {
  const about = aboutProject(ctx, page.projectId)
  return submitForm(ctx, request, page, (caller, action = page.action) =>
    authorize(ctx, caller, action, about, false),
  )
}

/** Forms of the workspace: for global admins. */
export const submitWorkspaceForm = (ctx: Context, request: Request, page: Forms): Promise<Response> =>
  submitForm(ctx, request, page, (caller) => authorize(ctx, caller, 'workspace:administer', undefined, false))

/** A form of somebody who is signed in. `decide`: who may send it at all, and who may what an intent needs beyond that. */
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
    )
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

/** The sentence for `?done=`, which a redirect carries. */
export function doneNotice(request: Request, sentences: Readonly<Record<string, string>>) {
  const done = queryOf(request, 'done') ?? ''
  const message = Object.hasOwn(sentences, done) ? sentences[done] : undefined
  return message === undefined ? [] : [{ tone: 'good' as const, message }]
}

/** Throws unless the form repeats the name, for what cannot be undone. */
export function requireTyped(form: Form, expected: string): void {
  if (form.text('confirm').trim().toLowerCase() === expected.toLowerCase()) return
  throw marked({ path: 'confirm', message: `Type ${expected} to confirm.` })
}

/** `?a=1&b=2` of what has a value; empty without any. */
export function queryText(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}
