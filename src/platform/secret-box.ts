import { randomBytes } from './random.ts'

/** AES-256-GCM for values that must be readable again: header values, TOTP secrets, project secrets. */
export type SecretBox = {
  /** `context` names the owner of the text. Opening needs the same context, so a value cannot be moved elsewhere. */
  seal(text: string, context: string): string
  /** Throws if the text was altered or moved, or sealed with an unknown key. */
  open(sealed: string, context: string): string
  /**
   * 32 bytes for another purpose, by HKDF of each key. Use the first; values made earlier may have used any. RFC 5869.
   */
  deriveKeys(purpose: string): Buffer[]
  /** The id of the key that seals. */
  keyId: string
}

const IV_BYTES = 12
const TAG_BYTES = 16

/** `keys`: 32 bytes each in base64; the first seals, all open. Sealed form: `v1.<key id>.<iv ‖ tag ‖ cipher text>`. */
export function createSecretBox(keys: readonly string[]): SecretBox {
  const ring = new Map(keys.map((key) => [keyIdOf(key), Buffer.from(key, 'base64')]))
  const keyId = keyIdOf(keys[0] ?? '')
  const keyOf = (id: string): Buffer => {
    const key = ring.get(id)
    if (key === undefined)
      throw new Error(`Stored secret was sealed with the key ${id}, which this server does not have`)
    return key
  }
  return {
    keyId,
    deriveKeys: (purpose) =>
      [...ring.values()].map((key) => Buffer.from(nodeCrypto().hkdfSync('sha256', key, '', purpose, 32))),
    seal(text, context) {
      const iv = randomBytes(IV_BYTES)
      const cipher = nodeCrypto().createCipheriv('aes-256-gcm', keyOf(keyId), iv).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `v1.${keyId}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`
    },
    open(sealed, context) {
      const [version, id, payload] = sealed.split('.')
      if (version !== 'v1' || id === undefined || payload === undefined)
        throw new Error('Not a sealed secret')
      const bytes = Buffer.from(payload, 'base64url')
      const iv = bytes.subarray(0, IV_BYTES)
      const options = { authTagLength: TAG_BYTES }
      const decipher = nodeCrypto().createDecipheriv('aes-256-gcm', keyOf(id), iv, options)
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      return Buffer.concat([
        decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString('utf8')
    },
  }
}

const keyIdOf = (key: string): string =>
  new Bun.CryptoHasher('sha256').update(Buffer.from(key, 'base64')).digest('hex').slice(0, 8)

/** Loaded for the first secret, so that it does not delay the start. */
const nodeCrypto = () => process.getBuiltinModule('node:crypto')
