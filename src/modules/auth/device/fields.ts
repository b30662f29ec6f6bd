import type { Context } from '../../../context.ts'
import { AppError, invalidField } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { readBody } from '../../../http/held-body.ts'
import { parseStorableJson } from '../../../http/parse-json.ts'

const MAX_BYTES = 16 * 1024
const LONGEST_NAME = 100

/** The fields of a body: a form, as RFC 8628 sends them, or JSON. None without a body. */
export async function readFields(ctx: Context, request: Request): Promise<Record<string, unknown>> {
  const bytes = await readBody(ctx, request, MAX_BYTES)
  if (bytes.length === 0) return {}
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/x-www-form-urlencoded')
    return Object.fromEntries([...new URLSearchParams(new TextDecoder().decode(bytes))].reverse())
  if (!/^application\/([\w.-]+\+)?json$/.test(type))
    throw new AppError('invalid', 'Send a form (application/x-www-form-urlencoded) or JSON')
  const body: unknown = parseStorableJson(bytes)
  if (!isRecord(body)) throw new AppError('invalid', 'Send a JSON object')
  return body
}

/** What the device calls itself, on one line; `svc` without a name. */
export function clientNameOf({ clientName }: Record<string, unknown>): string {
  if (clientName === undefined) return 'svc'
  if (typeof clientName !== 'string' || clientName.length > LONGEST_NAME)
    throw invalidField('clientName', `Text of at most ${LONGEST_NAME} characters`)
  const plain = clientName.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
  return plain.trim() || 'svc'
}
