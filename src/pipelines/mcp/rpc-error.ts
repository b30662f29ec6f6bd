export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
export const RESOURCE_NOT_FOUND = -32002
export const HEADER_MISMATCH = -32020
export const UNSUPPORTED_VERSION = -32022

/** An error of the protocol. `status`: of the response that carries it. */
export class RpcError extends Error {
  readonly code: number
  readonly status: number
  readonly id: string | number | null
  readonly data: unknown

  constructor(
    code: number,
    message: string,
    { status = 200, id = null, data }: { status?: number; id?: string | number | null; data?: unknown } = {},
  ) {
    super(message)
    this.code = code
    this.status = status
    this.id = id
    this.data = data
  }

  toBody(id: string | number | null): object {
    const { code, message, data } = this
    return {
      jsonrpc: '2.0',
      id: this.id ?? id,
      error: { code, message, ...(data !== undefined && { data }) },
    }
  }
}
