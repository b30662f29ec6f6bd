import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CommandFailure } from '../../src/cli/command.ts'

/** RFC 8032: Ed25519. */
export const PUBLIC_KEY_BYTES = 32

const PEM = /^\s*-----BEGIN PRIVATE KEY-----\s[\s\S]*-----END PRIVATE KEY-----\s*$/
const WANTED = 'an Ed25519 private key as PKCS#8 PEM (openssl genpkey -algorithm ed25519 -out FILE)'

/** The key that signs: of this file, else this text, else made for this run. Throws a `CommandFailure` for any other. */
export function releaseKey(file: string | undefined, text: string | undefined): KeyObject {
  if (file !== undefined) return keyIn(textOf(file), file)
  if (text !== undefined && text !== '') return keyIn(text, 'SVC_RELEASE_KEY')
  return generateKeyPairSync('ed25519').privateKey
}

/** Base64 of its 32 bytes, the form in which the executables hold it. */
export function publicKeyOf(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return spki.subarray(-PUBLIC_KEY_BYTES).toString('base64')
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailure(`the key ${file} cannot be read: ${String(error)}`)
  }
}

/** The message names the place only: what stands there may be a secret. */
function keyIn(text: string, place: string): KeyObject {
  const key = PEM.test(text) ? parsed(text) : undefined
  if (key?.asymmetricKeyType !== 'ed25519') throw new CommandFailure(`${place} must be ${WANTED}`)
  return key
}

function parsed(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined
  }
}
