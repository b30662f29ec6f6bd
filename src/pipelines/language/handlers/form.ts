import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { Handler } from '../handler.ts'
import { compilePattern } from '../safe-pattern.ts'
import { type Field, FORM_TYPES, field, readDefault } from './form-field.ts'
import { constantOf } from './words.ts'

export const formHandler: Handler<'form_handler'> = {
  names: ['form_handler'],
  summary:
    'Validates the input of a form, a script or a link. If any field is invalid, the response is 400 and names all invalid fields. Reads JSON, forms and, for GET, the query. Of a `boolean` that a form sends several times the last counts (a hidden `0` and a checkbox); equal values of other scalars count once, and different ones are 400.',
  result: 'the declared fields with their types; absent optional fields are null.',
  config: Type.Object(
    {
      fields: Type.Record(Type.String(), field, {
        description: `\`{ <field>: { type, required, min, max, pattern, default } }\`; type is one of ${FORM_TYPES.join(', ')}; \`min\` and \`max\` limit the value of a number or the length of a text; \`pattern\` must match the whole text; \`default\` is converted and checked like a given value`,
      }),
      honeypotField: Type.Optional(
        Type.String({
          description:
            'a field that people cannot see: if it is filled in, the response is `{ "success": true }` and nothing else happens',
        }),
      ),
      failOnError: Type.Optional(
        Type.Boolean({
          description:
            'with `false`, invalid fields do not fail the step: they are null, and the output has `errors`, which is `{ <field>: message }`, or null if all fields are valid; default true',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: (path) => !(path[0] === 'fields' && path[2] === 'default'),
  check: ({ fields, failOnError }) => [...checkPatterns(fields), ...checkErrors(fields, failOnError)],
  foresee: ({ fields }) => checkDefaults(fields),
}

function checkErrors(fields: unknown, failOnError: unknown): ErrorDetail[] {
  const isTaken = failOnError === false && Object.hasOwn(Object(fields), 'errors')
  return isTaken
    ? [{ path: 'fields.errors', message: 'must have another name when failOnError is false' }]
    : []
}

const fieldsOf = (fields: unknown): [name: string, field: Field][] =>
  Object.entries(isRecord(fields) ? fields : {}).flatMap(([name, one]) => (isField(one) ? [[name, one]] : []))

const checkPatterns = (fields: unknown): ErrorDetail[] =>
  fieldsOf(fields).flatMap(([name, { pattern }]) =>
    isPattern(pattern) ? [] : [{ path: `fields.${name}.pattern`, message: 'is not a regular expression' }],
  )

function checkDefaults(fields: unknown): ErrorDetail[] {
  return fieldsOf(fields).flatMap(([name, field]) => {
    if (!isPattern(field.pattern)) return []
    const { message } = readDefault({ ...field, required: false }, constantOf(field.default))
    return message === null ? [] : [{ path: `fields.${name}.default`, message }]
  })
}

/** Whether it is well-formed as far as the checks need it. */
const isField = (one: unknown): one is Field =>
  isRecord(one) &&
  FORM_TYPES.some((type) => type === one['type']) &&
  typeof (one['pattern'] ?? '') === 'string'

function isPattern(pattern: string | undefined): boolean {
  try {
    compilePattern(pattern ?? '')
    return true
  } catch {
    return false
  }
}
