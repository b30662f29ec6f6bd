import type { ErrorDetail } from '../domain/errors.ts'
import { parsePathPattern } from '../domain/path-pattern.ts'
import { SCHEMA_BY_NAME, SCHEMA_NAME } from '../domain/schema-fields.ts'
import { yamlOf } from './pull.ts'

/** A form that a page of the site sends: what it holds, where it is kept, and which page says thanks. contract 17.5. */
export type ContactForm = { path: string; fields: readonly string[]; schema: string; next: string }

export const CONTACT_FORM: ContactForm = {
  path: '/api/contact',
  fields: ['name', 'email', 'message'],
  schema: 'messages',
  next: '/thanks',
}

/** A field that people do not see and programs fill in. */
const HONEYPOT = 'website'
const MAX_FIELDS = 50

/** What is wrong, by the names of the inputs. */
export function flawsOfContactForm({ path, fields, schema, next }: ContactForm): ErrorDetail[] {
  const pattern = parsePathPattern(path)
  const odd = fields.find(
    (name, at) => !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name) || fields.indexOf(name) !== at,
  )
  return [
    ...(pattern.ok && path.startsWith('/')
      ? []
      : [{ path: 'path', message: 'Enter a path, such as /api/contact' }]),
    ...(fields.length === 0 || fields.length > MAX_FIELDS
      ? [{ path: 'fields', message: `Enter 1 to ${MAX_FIELDS} names, such as name, email, message` }]
      : []),
    ...(odd === undefined
      ? []
      : [
          {
            path: 'fields',
            message: `${odd} is no name of a field, or there twice: use letters, digits and _`,
          },
        ]),
    ...(fields.includes(HONEYPOT)
      ? [{ path: 'fields', message: `${HONEYPOT} is the field that catches programs: use another name` }]
      : []),
    ...(SCHEMA_NAME.test(schema) ? [] : [{ path: 'schema', message: 'Enter a name, such as messages' }]),
    ...(/^\/(?![/\\])[^\s'"{}\\]*$/.test(next)
      ? []
      : [{ path: 'next', message: 'Enter a path of the site, such as /thanks' }]),
  ]
}

const isEmail = (name: string): boolean => /e?mail$/i.test(name)
const isLong = (name: string): boolean => /message|comment|text|question|body/i.test(name)

/** The schema that keeps what it sends. */
export const schemaOfContactForm = ({ schema, fields }: ContactForm) => ({
  name: schema,
  fields: fields.map((name) => ({
    name,
    type: isEmail(name) ? 'email' : isLong(name) ? 'text' : 'string',
    required: true,
  })),
})

export const contactRuleText = ({ path, fields, schema, next }: ContactForm): string =>
  yamlOf({
    description: `Stores what the form sends as ${schema}`,
    pathPattern: path,
    methods: ['POST'],
    pipeline: {
      name: 'contact form',
      validators: [{ type: 'rate_limit', config: { limit: 10, windowSeconds: 60, keyBy: 'ip' } }],
      steps: [
        {
          id: 'form',
          handler: 'form_handler',
          config: {
            fields: Object.fromEntries(fields.map((name) => [name, formField(name)])),
            honeypotField: HONEYPOT,
          },
        },
        {
          id: 'record',
          handler: 'data_create',
          config: {
            schemaId: `${SCHEMA_BY_NAME}${schema}`,
            fields: Object.fromEntries(fields.map((name) => [name, `steps.form.${name}`])),
          },
        },
        { id: 'answer', handler: 'response_handler', config: { status: 303, headers: { location: next } } },
      ],
    },
  })

const formField = (name: string): Record<string, unknown> =>
  isEmail(name)
    ? { type: 'email', required: true }
    : { type: 'string', required: true, max: isLong(name) ? 5000 : 200 }
