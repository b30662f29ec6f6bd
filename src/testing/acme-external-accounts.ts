import { createHmac } from 'node:crypto'

/** The accounts that were made at an authority by other means: their keys, in base64url, by their identifiers. */
export type ExternalAccounts = Map<string, string>

/** Why the binding does not tie the new key `jwk` to one of them; null if it does. RFC 8555 §7.3.4. */
export function flawOfBinding(
  accounts: ExternalAccounts,
  binding: unknown,
  about: { jwk: unknown; url: string },
): string | null {
  const { protected: header = '', payload = '', signature = '' } = (binding ?? {}) as Record<string, string>
  if (header === '') return 'There is no binding'
  const { alg, kid, url, nonce } = decoded(header)
  if (alg !== 'HS256' || url !== about.url || nonce !== undefined) return 'Its header is wrong'
  const key = accounts.get(String(kid))
  if (key === undefined) return 'There is no such external account'
  const right = createHmac('sha256', Buffer.from(key, 'base64url')).update(`${header}.${payload}`)
  if (right.digest('base64url') !== signature) return 'Its signature is wrong'
  return Bun.deepEquals(decoded(payload), about.jwk) ? null : 'It is for another key'
}

const decoded = (text: string) =>
  JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
