import { messageOf } from '../domain/errors.ts'

/** Why no answer came from a server, where the words of the runtime would puzzle. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  ENOTFOUND: 'there is no such host (ENOTFOUND)',
  EPROTO: 'it does not speak TLS there (EPROTO); should the address begin with http://?',
}

export function unreachableReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? messageOf(error)
}
