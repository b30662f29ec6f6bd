import type { Context } from '../../src/context.ts'
import type { ErrorDetail } from '../../src/domain/errors.ts'
import { SCHEMA_BY_NAME } from '../../src/domain/schema-fields.ts'
import type { Grant } from '../../src/modules/auth/authorize.ts'
import { createRule } from '../../src/modules/proxy-rules/service.ts'
import { readRule } from '../../src/modules/rule-texts/service.ts'
import { createSchema, findSchemaOf } from '../../src/modules/schemas/service.ts'
import {
  CONTACT_FORM,
  type ContactForm,
  contactRuleText,
  flawsOfContactForm,
  schemaOfContactForm,
} from '../../src/rules/contact-form.ts'
import { ruleTexts } from '../../src/rules/rule-texts.ts'
import { page } from '../components/html.ts'
import { type Form, marked } from '../frame/form.ts'
import { type Failed, lookAt, submitProjectForm } from '../frame/project-request.ts'
import { contactFormPage } from './contact-form.ts'
import { inputOfRead } from './rule-text.ts'

/** The page that makes a rule and a schema of four answers. contract 17.5. */
export function showContactForm(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  return showTyped(ctx, request, id, failed?.values ?? valuesOf(CONTACT_FORM), failed)
}

function showTyped(
  ctx: Context,
  request: Request,
  id: string,
  values: Readonly<Record<string, string>>,
  failed?: Failed,
): Response {
  const looking = lookAt(ctx, request, id, 'traffic:configure')
  const typed = contactFormOf((name) => values[name] ?? '')
  const yaml = flawsOfContactForm(typed).length === 0 ? contactRuleText(typed) : null
  return page(contactFormPage({ ...looking, values, yaml, error: failed?.error }), failed?.error.status)
}

export const submitContactForm = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      show: { run: ({ form }) => showTyped(ctx, request, id, form.all()) },
      save: {
        isOnce: true,
        async run({ grant, form }) {
          if (form.isTicked('show')) return showTyped(ctx, request, id, form.all())
          const typed = contactFormOf((name) => form.text(name))
          const rule = await createContactForm(ctx, grant, id, typed)
          return `/projects/${id}/rules/${rule.id}?done=created`
        },
      },
    },
    show: (failed) => showContactForm(ctx, request, id, failed),
  })

/** The schema, where there is none of that name, and the rule: both or none. */
async function createContactForm(ctx: Context, grant: Grant, projectId: string, typed: ContactForm) {
  const flaws = [...flawsOfContactForm(typed), ...flawsOfSchema(ctx, projectId, typed)]
  if (flaws.length > 0) throw marked(...flaws)
  const { rule } = await readRule(ctx, ruleTexts, grant, contactRuleText(typed))
  if (rule === null) throw new Error('A contact form makes no rule')
  return createRule(ctx, grant, { projectId, aliasId: null }, inputOfRead(rule), {
    prepare() {
      if (schemaOf(ctx, projectId, typed) === undefined) createSchema(ctx, grant, schemaOfContactForm(typed))
    },
  })
}

const schemaOf = (ctx: Context, projectId: string, { schema }: ContactForm) =>
  findSchemaOf(ctx, projectId, `${SCHEMA_BY_NAME}${schema}`)

/** What a schema that is there already would not keep. */
function flawsOfSchema(ctx: Context, projectId: string, typed: ContactForm): ErrorDetail[] {
  const known = schemaOf(ctx, projectId, typed)
  const missing = typed.fields.filter((name) => known?.fields.every((field) => field.name !== name) ?? false)
  if (missing.length === 0) return []
  const message = `The schema ${typed.schema} has no ${missing.join(', ')}: add them there, or choose another name`
  return [{ path: 'schema', message }]
}

const valuesOf = ({ path, fields, schema, next }: ContactForm) => ({
  path,
  fields: fields.join(', '),
  schema,
  next,
})

const contactFormOf = (text: (name: keyof ContactForm) => ReturnType<Form['text']>): ContactForm => ({
  path: text('path').trim(),
  fields: text('fields')
    .split(/[\s,]+/)
    .filter((name) => name !== ''),
  schema: text('schema').trim(),
  next: text('next').trim(),
})
