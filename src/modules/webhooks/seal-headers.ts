import { invalidField } from '../../domain/errors.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import { REDACTED, sealHeader } from './sealed.ts'

/**
 * The headers as stored. `[redacted]` keeps the `stored` value of that name; throws `invalid` if there is none, unless
 * the values are dropped because the hook leads elsewhere now: then the header is left out.
 */
export function sealHeaders(
  box: SecretBox,
  hookId: string,
  headers: Readonly<Record<string, string>>,
  stored: Readonly<Record<string, string>>,
  isDropped = false,
): string {
  const kept = new Map(Object.entries(stored).map(([name, sealed]) => [name.toLowerCase(), sealed]))
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value !== REDACTED) return [[name, sealHeader(box, hookId, name, value)]]
    const sealed = kept.get(name.toLowerCase())
    if (sealed !== undefined) return [[name, sealed]]
    if (isDropped) return []
    throw invalidField(`headers.${name}`, `There is no stored value that ${REDACTED} could keep`)
  })
  return JSON.stringify(Object.fromEntries(entries))
}
