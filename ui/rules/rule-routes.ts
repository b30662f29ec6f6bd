import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError, type ErrorDetail } from '../../src/domain/errors.ts'
import { previewRedirect } from '../../src/domain/routing/redirect-rule.ts'
import { getAlias, listAliases } from '../../src/modules/aliases/service.ts'
import {
  changeRule,
  createRule,
  deleteRule,
  getRule,
  type RuleLevel,
} from '../../src/modules/proxy-rules/service.ts'
import { getRuleSet } from '../../src/modules/rule-sets/service.ts'
import { listRuns } from '../../src/modules/runs/service.ts'
import { sentence } from '../components/field.ts'
import { page } from '../components/html.ts'
import type { Form } from '../frame/form.ts'
import { marked, UNREAD_BODY } from '../frame/form.ts'
import { queryOf, seeOther } from '../frame/page-request.ts'
import {
  type Doing,
  doneNotice,
  type Failed,
  type Intent,
  type Looking,
  lookAt,
  submitProjectForm,
} from '../frame/project-request.ts'
import { showContactForm, submitContactForm } from './contact-routes.ts'
import { type RulePageProps, rulePage, type ShownRule } from './rule.ts'
import { ruleEditPage } from './rule-edit.ts'
import { flawsOfForm, MAX_RULE_FORM_BYTES, ruleOf } from './rule-form.ts'
import { inputOfText, isPipeline, withExample } from './rule-text.ts'
import { FRESH_VALUES, type RuleValues, valuesOf, withoutHeaderValues } from './rule-values.ts'
import type { TypedRule } from './typed-rule.ts'

/** One rule, and the form for a rule. */
export const rulePages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/rules/new', ({ request, params }) =>
      isContactForm(request) ? showContactForm(ctx, request, params.id) : showNew(ctx, request, params.id),
    )
    .post(
      '/projects/:id/rules/new',
      ({ request, params }) =>
        isContactForm(request)
          ? submitContactForm(ctx, request, params.id)
          : submitNew(ctx, request, params.id),
      UNREAD_BODY,
    )
    .get('/projects/:id/rules/:ruleId', ({ request, params }) => showRule(ctx, request, params))
    .post(
      '/projects/:id/rules/:ruleId',
      ({ request, params }) => submitRule(ctx, request, params),
      UNREAD_BODY,
    )
    .get('/projects/:id/rules/:ruleId/edit', ({ request, params }) => showEdit(ctx, request, params))
    .post(
      '/projects/:id/rules/:ruleId/edit',
      ({ request, params }) => submitEdit(ctx, request, params),
      UNREAD_BODY,
    )

const isContactForm = (request: Request): boolean => queryOf(request, 'form') === 'contact'

const LATEST = '5'

type Place = { id: string; ruleId: string }

function showRule(ctx: Context, request: Request, { id, ruleId }: Place, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const rule = withoutHeaderValues(getRule(ctx, looking.grant, ruleId))
  const isPipeline = rule.proxyType === 'pipeline'
  const notices = doneNotice(request, {
    created: rule.isEnabled
      ? 'The rule was created and is live.'
      : 'The rule was created. Enable it to make it live.',
    saved: 'Saved.',
    unlocked: 'You can now change this rule here.',
  })
  return page(
    rulePage({
      ...looking,
      rule,
      place: placeOf(ctx, looking, rule),
      isUnlocked: isUnlocked(rule, queryOf(request, 'unlocked') ?? failed?.values['unlocked']),
      runs: isPipeline ? listRuns(ctx, looking.grant, { ruleId, limit: LATEST }).data : null,
      failed,
      notices,
    }),
    failed?.error.status,
  )
}

/** Rules of the repository are read-only until the person unlocks them. */
const isUnlocked = ({ source }: ShownRule, said: string | undefined): boolean =>
  source !== null && said === 'true'

function placeOf(
  ctx: Context,
  { grant }: Looking,
  { aliasId, ruleSetId }: ShownRule,
): RulePageProps['place'] {
  if (ruleSetId !== null) return { kind: 'set', id: ruleSetId, name: getRuleSet(ctx, grant, ruleSetId).name }
  return aliasId === null ? null : { kind: 'alias', id: aliasId, name: getAlias(ctx, grant, aliasId).name }
}

const submitRule = (ctx: Context, request: Request, { id, ruleId }: Place) => {
  const at = `/projects/${id}/rules/${ruleId}`
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      unlock: unlocking(ctx, ruleId, at),
      switch: ofUnlocked(ctx, ruleId, async ({ grant, form }) => {
        await changeRule(ctx, grant, ruleId, { isEnabled: form.isTicked('isEnabled') })
        return `${at}?done=saved${unlockedQuery(form)}`
      }),
      delete: {
        isOnce: true,
        ...ofUnlocked(ctx, ruleId, ({ grant }) => {
          deleteRule(ctx, grant, ruleId)
          return `/projects/${id}/rules?done=deleted`
        }),
      },
    },
    show: (failed) => showRule(ctx, request, { id, ruleId }, failed),
  })
}

/** Throws 404 for a rule that the project does not have. */
const unlocking = (ctx: Context, ruleId: string, at: string): Intent => ({
  run({ grant }) {
    getRule(ctx, grant, ruleId)
    return `${at}?unlocked=true&done=unlocked`
  },
})

const unlockedQuery = (form: Form): string => (form.isTicked('unlocked') ? '&unlocked=true' : '')

/** Throws 409 for a rule of the repository that nobody has unlocked. */
const ofUnlocked = (ctx: Context, ruleId: string, run: Intent['run']): Intent => ({
  run(doing) {
    const { source } = getRule(ctx, doing.grant, ruleId)
    if (source !== null && !doing.form.isTicked('unlocked'))
      throw new AppError('conflict', 'This rule is managed by the repository. Unlock it first.')
    return run(doing)
  },
})

/** The form again, in place of saving it: with what it says about an address, or with an example. */
type Tried = { values: RuleValues; preview?: string }

/** Undefined for a form that is to be saved. */
function triedBy(form: Form): Tried | undefined {
  if (form.isTicked('insert')) return { values: withExample(form.all()) }
  return form.isTicked('preview') ? tryRedirect(form) : undefined
}

function tryRedirect(form: Form): Tried {
  const { pathPattern, targetUrl = '', status = null } = ruleOf(form)
  const address = form.text('previewPath').trim()
  return { values: form.all(), preview: previewRedirect({ pathPattern, targetUrl, status }, address) }
}

function showNew(ctx: Context, request: Request, id: string, failed?: Failed, tried?: Tried): Response {
  const looking = lookAt(ctx, request, id, 'traffic:configure')
  const query = { projectId: id, limit: '100', sort: 'name', order: 'asc' }
  return page(
    ruleEditPage({
      ...looking,
      rule: null,
      aliases: listAliases(ctx, looking.grant, query).data,
      values: failed?.values ??
        tried?.values ?? {
          ...FRESH_VALUES,
          ...kindOf(queryOf(request, 'kind')),
          aliasId: queryOf(request, 'alias') ?? '',
        },
      isUnlocked: false,
      error: failed?.error,
      preview: tried?.preview,
    }),
    failed?.error.status,
  )
}

const KINDS: Readonly<Record<string, string>> = {
  proxy: 'external_proxy',
  rewrite: 'internal_rewrite',
  redirect: 'redirect',
  pipeline: 'pipeline',
}

function kindOf(kind: string | undefined): RuleValues {
  const proxyType = kind !== undefined && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  return proxyType === undefined ? {} : { proxyType }
}

const submitNew = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    maxFormBytes: MAX_RULE_FORM_BYTES,
    intents: {
      check: {
        run: (doing) => answerCheck(ctx, request, { ...doing, level: levelOf(ctx, id, doing), id: null }),
      },
      save: {
        isOnce: true,
        async run(doing) {
          const { grant, form } = doing
          const tried = triedBy(form)
          if (tried !== undefined) return showNew(ctx, request, id, undefined, tried)
          const level = levelOf(ctx, id, doing)
          const typed = { grant, level, id: null, form }
          await requireFlawless(ctx, request, typed)
          const rule = await createRule(ctx, grant, level, await inputOf(ctx, typed))
          return `/projects/${id}/rules/${rule.id}?done=created`
        },
      },
    },
    show: (failed) => showNew(ctx, request, id, failed),
  })

const inputOf = (ctx: Context, typed: TypedRule) =>
  isPipeline(typed.form) ? inputOfText(ctx, typed) : ruleOf(typed.form)

/** Throws 404 for an alias that the project does not have. */
function levelOf(ctx: Context, projectId: string, { grant, form }: Doing): RuleLevel {
  const aliasId = form.optional('aliasId') ?? null
  return { projectId, aliasId: aliasId === null ? null : getAlias(ctx, grant, aliasId).id }
}

function showEdit(
  ctx: Context,
  request: Request,
  { id, ruleId }: Place,
  failed?: Failed,
  tried?: Tried,
): Response {
  const looking = lookAt(ctx, request, id, 'traffic:configure')
  const rule = withoutHeaderValues(getRule(ctx, looking.grant, ruleId))
  const said = failed?.values['unlocked'] ?? tried?.values['unlocked']
  const unlocked = isUnlocked(rule, queryOf(request, 'unlocked') ?? said)
  if (rule.source !== null && !unlocked)
    return failed === undefined
      ? seeOther(`/projects/${id}/rules/${ruleId}`)
      : showRule(ctx, request, { id, ruleId }, failed)
  return page(
    ruleEditPage({
      ...looking,
      rule,
      aliases: [],
      values: failed?.values ?? tried?.values ?? valuesOf(rule),
      isUnlocked: unlocked,
      error: failed?.error,
      preview: tried?.preview,
    }),
    failed?.error.status,
  )
}

const submitEdit = (ctx: Context, request: Request, { id, ruleId }: Place) => {
  const typedBy = (doing: Doing): TypedRule => {
    const { aliasId } = getRule(ctx, doing.grant, ruleId)
    return { ...doing, level: { projectId: id, aliasId }, id: ruleId }
  }
  const save = async (doing: Doing) => {
    const { grant, form } = doing
    const tried = triedBy(form)
    if (tried !== undefined) return showEdit(ctx, request, { id, ruleId }, undefined, tried)
    const typed = typedBy(doing)
    await requireFlawless(ctx, request, typed)
    await changeRule(ctx, grant, ruleId, await inputOf(ctx, typed))
    return `/projects/${id}/rules/${ruleId}?done=saved${unlockedQuery(form)}`
  }
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    maxFormBytes: MAX_RULE_FORM_BYTES,
    intents: {
      check: { run: (doing) => answerCheck(ctx, request, typedBy(doing)) },
      unlock: unlocking(ctx, ruleId, `/projects/${id}/rules/${ruleId}`),
      save: ofUnlocked(ctx, ruleId, save),
    },
    show: (failed) => showEdit(ctx, request, { id, ruleId }, failed),
  })
}

/** For the script: the errors while somebody is still typing. */
const answerCheck = async (ctx: Context, request: Request, typed: TypedRule): Promise<Response> =>
  Response.json(
    { details: (await flawsOfForm(ctx, request, typed)).map(inWords) },
    { headers: { 'cache-control': 'no-store' } },
  )

const inWords = ({ path, message }: ErrorDetail): ErrorDetail => ({ path, message: sentence(message) })

async function requireFlawless(ctx: Context, request: Request, typed: TypedRule): Promise<void> {
  const details = await flawsOfForm(ctx, request, typed)
  if (details.length > 0) throw marked(...details)
}
