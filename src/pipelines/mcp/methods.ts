import { isRecord } from '../../domain/is-record.ts'
import type { CalledRule, McpConfig, Tool } from '../language/handlers/mcp.ts'
import type { Asker, SiteAnswer, SiteCall } from '../runner.ts'
import { ALL_VERSIONS, type Era, OLD_VERSIONS } from './era.ts'
import { failureOf, readAnswer } from './read-answer.ts'
import { INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, RpcError } from './rpc-error.ts'
import { toolResult } from './tool-result.ts'

type Asked = { config: McpConfig; params: Record<string, unknown>; asker: Asker }

/** `era`: the only one that knows it. `keptMs`: how long a client may keep the result. */
type Method = { era?: Era; keptMs?: number; run(asked: Asked): object | Promise<object> }

const LIST_KEPT_MS = 60_000

/** What a client may ask for. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', { era: 'old', run: initialize }],
  ['server/discover', { era: 'new', keptMs: LIST_KEPT_MS, run: discover }],
  ['ping', { run: () => ({}) }],
  ['tools/list', { keptMs: LIST_KEPT_MS, run: ({ config }) => ({ tools: config.tools.map(shown) }) }],
  ['tools/call', { run: callTool }],
  ['resources/list', { keptMs: LIST_KEPT_MS, run: listResources }],
  ['resources/read', { keptMs: 0, run: readResource }],
])

function initialize({ config, params }: Asked): object {
  const version = OLD_VERSIONS.find((one) => one === params['protocolVersion']) ?? OLD_VERSIONS[0]
  return { protocolVersion: version, serverInfo: config.serverInfo, ...about(config) }
}

function discover({ config }: Asked): object {
  const _meta = { 'io.modelcontextprotocol/serverInfo': config.serverInfo }
  return { supportedVersions: ALL_VERSIONS, ...about(config), _meta }
}

const about = ({ instructions, resources }: McpConfig): object => ({
  capabilities: { tools: {}, ...(resources !== undefined && { resources: {} }) },
  ...(instructions !== undefined && { instructions }),
})

/** `visibility` is said where MCP Apps look for it. */
function shown({ rule: _, visibility, ...tool }: Tool): object {
  if (visibility === undefined) return tool
  const { ui, ...meta } = tool._meta ?? {}
  return { ...tool, _meta: { ...meta, ui: { ...(isRecord(ui) ? ui : {}), visibility } } }
}

/** Some clients allow no dots in names, and send slashes. */
async function callTool({ config: { tools }, params, asker }: Asked): Promise<object> {
  const { name, arguments: args = {} } = params
  const tool =
    tools.find((one) => one.name === name) ??
    tools.find((one) => one.name === String(name).replaceAll('/', '.'))
  if (tool === undefined) throw new RpcError(INVALID_PARAMS, `There is no tool ${String(name).slice(0, 100)}`)
  if (!isRecord(args)) throw new RpcError(INVALID_PARAMS, 'arguments must be an object')
  return toolResult(await ask(asker, { path: tool.rule.path, method: tool.rule.method ?? 'POST', args }))
}

function listResources({ config: { resources } }: Asked): object {
  return { resources: (resources?.static ?? []).map(({ rule: _, ...resource }) => resource) }
}

async function readResource({ config: { resources }, params: { uri }, asker }: Asked): Promise<object> {
  const resource = resources?.static?.find((one) => one.uri === uri)
  if (resource === undefined)
    throw new RpcError(RESOURCE_NOT_FOUND, 'There is no such resource', { data: { uri } })
  const answer = await readAnswer(await askForResource(asker, resource.rule))
  if (!answer.isGood) throw new RpcError(INTERNAL_ERROR, failureOf(answer))
  const mimeType = resource.mimeType ?? answer.type
  return { contents: [{ uri, ...(mimeType !== null && { mimeType }), text: answer.text }] }
}

async function askForResource(asker: Asker, { path, method }: CalledRule): Promise<SiteAnswer> {
  const answer = await ask(asker, { path, method: method ?? 'GET', args: {} })
  return 'unanswered' in answer && method === undefined
    ? ask(asker, { path, method: 'POST', args: {} })
    : answer
}

const ask = (asker: Asker, call: SiteCall): Promise<SiteAnswer> =>
  asker.askSite?.(call) ?? Promise.resolve({ unanswered: 'Tools cannot be called from here' })
