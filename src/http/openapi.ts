import { ERROR_CODES } from '../domain/error-codes.ts'
import { DETAIL_NUMBERS } from '../domain/errors.ts'
import { isRecord } from '../domain/is-record.ts'

type Json = Record<string, unknown>

/**
 * Makes the generated document describe the actual API: OpenAPI 3.1 with our JSON Schemas; bodies only in JSON, unless
 * a route describes its own; a sentence for every response; and the single error shape. `named` are further schemas; a
 * property named like one of them, apart from the case of its first letter, refers to it.
 */
export function polishDocument(generated: Json, named: Json = {}): Json {
  const components = asObject(generated['components'])
  const paths = Object.entries(asObject(generated['paths'])).map(([path, methods]) => [
    path.length > 1 ? path.replace(/\/$/, '') : path,
    mapValues(asObject(methods), (operation) => polishOperation(path, asObject(operation))),
  ])
  const schemas = { ...asObject(components['schemas']), ...named, Error: ERROR_SCHEMA }
  return {
    ...generated,
    openapi: '3.1.0',
    paths: withReferences(Object.fromEntries(paths), named),
    components: { ...components, schemas },
  }
}

function withReferences(value: unknown, named: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, named))
  if (!isRecord(value)) return value
  return mapValues(value, (inner, key) => {
    const name = `${key.charAt(0).toUpperCase()}${key.slice(1)}`
    if (!Object.hasOwn(named, name) || !isRecord(inner)) return withReferences(inner, named)
    return { anyOf: [{ $ref: `#/components/schemas/${name}` }, { type: 'null' }] }
  })
}

/** spec: Errors; contract §2. */
const ERROR_SCHEMA = {
  type: 'object',
  required: ['statusCode', 'message', 'error'],
  properties: {
    statusCode: { type: 'integer', examples: [404] },
    message: { type: 'string', description: 'A sentence for a person' },
    error: {
      type: 'string',
      description: [
        'The reason phrase of the status, such as `Not Found`, or one of these codes:',
        ...Object.entries(ERROR_CODES).map(([code, meaning]) => `- \`${code}\`: ${meaning}`),
      ].join('\n'),
      examples: ['Not Found', ...Object.keys(ERROR_CODES)],
    },
    details: {
      type: 'array',
      description: 'The problems with the input, if it is invalid, or the limits that it crosses',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string' },
          message: { type: 'string' },
          ...Object.fromEntries(DETAIL_NUMBERS.map((name) => [name, { type: 'integer' }])),
        },
      },
    },
  },
}

const FAILURE = {
  description: 'Any failure',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const MEANINGS: Record<string, string> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted: the work continues in the background',
  204: 'Done, no content',
  302: 'Redirect to another address',
  303: 'Redirect to another address',
  503: 'Not healthy',
}

function polishOperation(path: string, operation: Json): Json {
  const responses = mapValues(asObject(operation['responses']), (response, status) => ({
    description: asObject(response)['description'] ?? MEANINGS[status] ?? 'See the status code',
    ...contentOf(response),
  }))
  const { parameters, requestBody } = operation
  return {
    ...operation,
    ...(path.startsWith('/_svc/') ? { tags: ['Auth on site hosts'] } : {}),
    ...(Array.isArray(parameters) ? { parameters: parameters.map(polishParameter) } : {}),
    ...(requestBody === undefined
      ? {}
      : { requestBody: { ...asObject(requestBody), ...contentOf(requestBody) } }),
    responses: { ...responses, default: FAILURE },
  }
}

/** Moves a parameter's examples into its schema: on the parameter they would be a map of named examples. */
function polishParameter(parameter: unknown): Json {
  const { examples, schema, ...rest } = asObject(parameter)
  const known = Array.isArray(examples) ? { examples } : {}
  return { ...rest, schema: cleanSchema({ ...asObject(schema), ...known }) }
}

/** The generator lists these three for every route that does not declare its content types. */
const GUESSED = ['application/json', 'multipart/form-data', 'text/plain']

function contentOf(body: unknown): Json {
  const content = asObject(body)['content']
  if (!isRecord(content)) return {}
  const isGuessed = GUESSED.every((type) => type in content)
  const kept = Object.entries(content).filter(([type]) => !isGuessed || type === GUESSED[0])
  return {
    content: mapValues(Object.fromEntries(kept), (media) => ({
      ...asObject(media),
      ...('schema' in asObject(media) ? { schema: cleanSchema(asObject(media)['schema']) } : {}),
    })),
  }
}

/**
 * Removes `error`, our message for invalid input, and uses it as the description. A choice of texts becomes an `enum`,
 * and a whole number an integer.
 */
function cleanSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(cleanSchema)
  if (!isRecord(schema)) return schema
  const { error, ...rest } = schema
  const isSentence = typeof error === 'string'
  const cleaned = mapValues(isSentence ? rest : schema, (value, key) =>
    KEPT_AS_THEY_ARE.has(key) ? value : cleanSchema(value),
  )
  const described =
    isSentence && cleaned['description'] === undefined ? { ...cleaned, description: error } : cleaned
  const { anyOf, ...others } = described
  const choices = Array.isArray(anyOf) ? anyOf.map(asObject) : []
  const texts = choices.map((choice) => choice['const'])
  if (texts.length > 0 && texts.every((text) => typeof text === 'string'))
    return { ...others, type: 'string', enum: texts }
  return choices.some(isNumberAsText)
    ? { ...others, ...choices.find(({ type }) => type === 'integer') }
    : described
}

/** Elysia also accepts an integer as text, and documents that even for responses. */
const isNumberAsText = ({ type, format }: Json): boolean => type === 'string' && format === 'integer'

const KEPT_AS_THEY_ARE: ReadonlySet<string> = new Set(['examples', 'example', 'default', 'const', 'enum'])

const asObject = (value: unknown): Json => (isRecord(value) ? value : {})

const mapValues = (object: Json, map: (value: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
