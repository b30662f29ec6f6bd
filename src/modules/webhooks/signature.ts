import { createHmac } from 'node:crypto'

/** `sha256=` and the hex HMAC-SHA256 of the raw body with the secret's text, as GitHub signs. */
export const signLikeGitHub = (secret: string, body: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

/** `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Standard Webhooks: the key is the base64 after `whsec_`. */
export function signStandard(secret: string, id: string, timestamp: number, body: string): string {
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`)
  return `v1,${signature.digest('base64')}`
}

function keyOf(secret: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  return base64 === undefined ? Buffer.from(secret) : Buffer.from(base64, 'base64')
}
