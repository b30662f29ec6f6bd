import { isRecord } from '../../domain/is-record.ts'
import { HEADER_MISMATCH, RpcError, UNSUPPORTED_VERSION } from './rpc-error.ts'

/** `old`: a client says `initialize` first. `new`: every request says by itself which version it speaks. */
export type Era = 'old' | 'new'

/** The newest first. */
export const OLD_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const
const NEW_VERSIONS: readonly string[] = ['2026-07-28']
export const ALL_VERSIONS: readonly string[] = [...NEW_VERSIONS, ...OLD_VERSIONS]

type Asked = {
  id: string | number
  method: string
  params: Record<string, unknown>
  headers: Readonly<Record<string, string>>
}

/** The era that a request declares. Its headers must say the same as it does: what stands in front reads only them. */
export function declaredEra({ id, method, params, headers }: Asked): Era {
  const meta = params['_meta']
  const version = isRecord(meta) ? meta['io.modelcontextprotocol/protocolVersion'] : undefined
  const sent = headers['mcp-protocol-version']
  const mismatch = (name: string) =>
    new RpcError(HEADER_MISMATCH, `The header ${name} does not say what the message says`, {
      status: 400,
      id,
    })
  if (version === undefined) {
    if (sent !== undefined && NEW_VERSIONS.includes(sent)) throw mismatch('MCP-Protocol-Version')
    return 'old'
  }
  if (sent !== version) throw mismatch('MCP-Protocol-Version')
  if (!NEW_VERSIONS.includes(sent))
    throw new RpcError(UNSUPPORTED_VERSION, 'This version of the protocol is not spoken here', {
      status: 400,
      id,
      data: { supported: ALL_VERSIONS, requested: sent },
    })
  if (headers['mcp-method'] !== method) throw mismatch('Mcp-Method')
  const named = NAMED_BY[method]
  if (named !== undefined && decoded(headers['mcp-name']) !== params[named]) throw mismatch('Mcp-Name')
  return 'new'
}

/** What `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string | undefined>> = {
  'tools/call': 'name',
  'resources/read': 'uri',
}

/** What no header may hold is sent as `=?base64?…?=`. */
function decoded(value: string | undefined): string | undefined {
  const coded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(value ?? '')?.[1]
  return coded === undefined ? value : Buffer.from(coded, 'base64').toString()
}
