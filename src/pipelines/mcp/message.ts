import { isRecord } from '../../domain/is-record.ts'
import type { PipelineInput } from '../input.ts'
import { declaredEra, type Era } from './era.ts'
import { INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RpcError } from './rpc-error.ts'

export type Id = string | number

/** One message to the server. JSON-RPC 2.0; MCP has no batches. */
export type Message =
  | { kind: 'notification' }
  | { kind: 'request'; id: Id; method: string; params: Record<string, unknown>; era: Era }

/** Throws `RpcError`. */
export function readMessage({ body, headers }: PipelineInput): Message {
  if (body.kind !== 'json') throw new RpcError(PARSE_ERROR, 'The message is not JSON', { status: 400 })
  const message = body.value
  if (!isRecord(message)) throw invalid(null, 'A message is one JSON object')
  const { id, method, params = {} } = message
  const known = isId(id) ? id : null
  if (message['jsonrpc'] !== '2.0' || typeof method !== 'string')
    throw invalid(known, 'The message is no request of JSON-RPC 2.0')
  if (id === undefined) return { kind: 'notification' }
  if (known === null) throw invalid(null, 'The id of a request is a text or a whole number')
  if (!isRecord(params)) throw new RpcError(INVALID_PARAMS, 'params must be an object', { id: known })
  return {
    kind: 'request',
    id: known,
    method,
    params,
    era: declaredEra({ id: known, method, params, headers }),
  }
}

const isId = (id: unknown): id is Id => typeof id === 'string' || Number.isSafeInteger(id)

const invalid = (id: Id | null, message: string) =>
  new RpcError(INVALID_REQUEST, message, { status: 400, id })
