import type { PipelineInput } from '../input.ts'
import type { McpConfig } from '../language/handlers/mcp.ts'
import { Answer, type Asker } from '../runner.ts'
import { type Message, readMessage } from './message.ts'
import { METHODS } from './methods.ts'
import { METHOD_NOT_FOUND, RpcError } from './rpc-error.ts'

/** Answers one message of the Model Context Protocol. contract 14.5. */
export async function answerMessage(config: McpConfig, input: PipelineInput, asker: Asker): Promise<Answer> {
  let id: string | number | null = null
  try {
    const message = readMessage(input)
    if (message.kind === 'notification') return new Answer({ status: 202, headers: [], body: null })
    id = message.id
    return json(200, { jsonrpc: '2.0', id, result: await resultOf(message, config, asker) })
  } catch (error) {
    if (error instanceof RpcError) return json(error.status, error.toBody(id))
    throw error
  }
}

async function resultOf(
  { method, params, era }: Extract<Message, { kind: 'request' }>,
  config: McpConfig,
  asker: Asker,
): Promise<object> {
  const known = METHODS.get(method)
  if (known === undefined || (known.era !== undefined && known.era !== era))
    throw new RpcError(METHOD_NOT_FOUND, `There is no method ${method.slice(0, 100)}`, {
      status: era === 'new' ? 404 : 200,
    })
  const result = await known.run({ config, params, asker })
  if (era === 'old') return result
  const kept = known.keptMs === undefined ? {} : { ttlMs: known.keptMs, cacheScope: 'private' }
  return { resultType: 'complete', ...kept, ...result }
}

const json = (status: number, body: object): Answer =>
  new Answer({ status, headers: [['content-type', 'application/json']], body: JSON.stringify(body) })
