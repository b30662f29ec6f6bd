import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'

/** The functions in `utils` of a function's code. They take and return texts. contract §9.3. */
export type SandboxUtils = {
  sha256(text: string): string
  hmacSha256(key: string, text: string): string
  randomToken(bytes: number): string
  randomUUID(): string
  base64urlEncode(text: string): string
  base64urlDecode(text: string): string
  sign(json: string, seconds: number): string
  verify(token: string): string | null
}

const MAX_TOKEN_BYTES = 1024
const MAX_SECONDS = 100 * 365 * 24 * 3600

/** `keys` in base64: the first signs, all verify. `now` in milliseconds. */
export function sandboxUtils(keys: readonly string[], now: () => number): SandboxUtils {
  return {
    sha256: (text) => new Bun.CryptoHasher('sha256').update(text).digest('hex'),
    hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
    randomToken: (bytes) =>
      randomBytes(whole(bytes, 1, MAX_TOKEN_BYTES, 'randomToken takes 1 to 1024 bytes')).toString(
        'base64url',
      ),
    randomUUID,
    base64urlEncode: (text) => Buffer.from(text).toString('base64url'),
    base64urlDecode: (text) => Buffer.from(text, 'base64url').toString(),
    sign(json, seconds) {
      // Zero or less makes a token that has already expired.
      const lifetime = whole(
        Math.max(0, Math.ceil(seconds)),
        0,
        MAX_SECONDS,
        'sign needs the seconds that the token is good for',
      )
      const payload = Buffer.from(JSON.stringify([json, now() + lifetime * 1000])).toString('base64url')
      return `${payload}.${macOf(payload, keys[0] ?? '').toString('base64url')}`
    },
    verify(token) {
      const [payload = '', mac = '', ...rest] = token.split('.')
      const given = Buffer.from(mac, 'base64url')
      const isOurs = keys.some((key) => {
        const right = macOf(payload, key)
        return right.length === given.length && timingSafeEqual(right, given)
      })
      if (!isOurs || rest.length > 0) return null
      const [json, expiresAt] = JSON.parse(Buffer.from(payload, 'base64url').toString())
      return now() < expiresAt ? json : null
    },
  }
}

const macOf = (payload: string, key: string): Buffer =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(payload).digest()

function whole(value: number, min: number, max: number, message: string): number {
  if (!Number.isInteger(value) || value < min || value > max) throw new RangeError(message)
  return value
}
