import type { Finding } from './findings.ts'

/** No more of a file is looked at. */
export const BYTES_LOOKED_AT = 1024

const NAMES = /(?:^|\/)(?:id_rsa|id_ed25519|[^/]*\.p12)$/i
const KEY_LINE = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----/

/** A file that is a private key, by its name or by the first KiB of its contents. */
export function findSecret(file: string, head: Uint8Array): Finding | null {
  if (!NAMES.test(file) && !KEY_LINE.test(Buffer.from(head).toString('latin1'))) return null
  return {
    kind: 'secret-published',
    file,
    line: null,
    target: null,
    message:
      'It looks like a private key, and whoever may see the site can read it. Delete it from the deployment, publish without it, and replace the key.',
  }
}
