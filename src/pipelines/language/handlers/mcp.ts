import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { Handler } from '../handler.ts'
import { flawOfLiteralPath } from './words.ts'

const text = Type.String()
const name = Type.String({ minLength: 1, maxLength: 200 })

const calledRule = Type.Object(
  {
    path: Type.String({ minLength: 1 }),
    method: Type.Optional(Type.Union([Type.Literal('GET'), Type.Literal('POST')])),
  },
  { additionalProperties: false },
)

const tool = Type.Object(
  {
    name,
    title: Type.Optional(text),
    description: Type.Optional(text),
    inputSchema: Type.Record(Type.String(), Type.Unknown()),
    annotations: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    _meta: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    visibility: Type.Optional(Type.Array(Type.Union([Type.Literal('model'), Type.Literal('app')]))),
    rule: calledRule,
  },
  { additionalProperties: false },
)

const resource = Type.Object(
  {
    uri: name,
    name,
    description: Type.Optional(text),
    mimeType: Type.Optional(text),
    rule: calledRule,
  },
  { additionalProperties: false },
)

export type Tool = Type.Static<typeof tool>
export type Resource = Type.Static<typeof resource>
export type CalledRule = Type.Static<typeof calledRule>
export type McpConfig = {
  serverInfo: { name: string; version: string }
  instructions?: string
  tools: Tool[]
  resources?: { static?: Resource[] }
}

const toolsConfig = Type.Array(tool, {
  maxItems: 500,
  description:
    'what programs may call: `{ name, title, description, inputSchema, annotations, _meta, visibility, rule }`; `inputSchema` is a JSON Schema of the arguments, `rule` is `{ path, method }` of a rule of this site, method POST (the default: the arguments are its JSON body) or GET (they are its query)',
})

const resourcesConfig = Type.Object(
  { static: Type.Optional(Type.Array(resource, { maxItems: 500 })) },
  {
    additionalProperties: false,
    description:
      'what programs may read: `{ static: [{ uri, name, description, mimeType, rule }] }`; the method of `rule` is GET, or POST where no rule answers that',
  },
)

export const mcpHandler: Handler<'mcp_handler'> = {
  names: ['mcp_handler'],
  summary:
    'Serves tools to programs with a language model by the Model Context Protocol (Streamable HTTP, without sessions). A tool is another rule of the site, a pipeline: it runs as the caller of this one, with its own validators, limits and run log. `Authorization: Bearer svc_…` counts as `X-API-Key`.',
  result: 'none: it is the response.',
  config: Type.Object(
    {
      serverInfo: Type.Object(
        { name, version: name },
        { additionalProperties: false, description: 'what the server is called: `{ name, version }`' },
      ),
      instructions: Type.Optional(Type.String({ description: 'what the tools are for, for the model' })),
      tools: toolsConfig,
      resources: Type.Optional(resourcesConfig),
    },
    { additionalProperties: false },
  ),
  isLiteral: () => true,
  check: ({ tools, resources }) => [
    ...checkEach('tools', tools, 'name'),
    ...checkEach('resources.static', isRecord(resources) ? resources['static'] : [], 'uri'),
  ],
}

/** What each is called differs, and each names a path. */
function checkEach(key: string, given: unknown, called: string): ErrorDetail[] {
  const list = Array.isArray(given) ? given : []
  const names = list.map((one) => (isRecord(one) ? one[called] : undefined))
  return list.flatMap((one, i) => {
    const path = isRecord(one) && isRecord(one['rule']) ? one['rule']['path'] : undefined
    const isTwice = names[i] !== undefined && names.indexOf(names[i]) !== i
    return [
      ...flawOfLiteralPath(`${key}[${i}].rule.path`, path),
      ...(isTwice ? [{ path: `${key}[${i}].${called}`, message: 'is the name of another one, too' }] : []),
    ]
  })
}
