import { createPublicKey, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Release } from './release.ts'
import { filesBelow, sha256Of } from './tree.ts'

export const SUMS = 'SHA256SUMS'

/** `SHA256SUMS` over all that is there, its signature, and the public key for people. contract 19.1 */
export async function makeSums({ out, key }: Release): Promise<void> {
  const lines: string[] = []
  for (const path of filesBelow(out)) lines.push(`${await sha256Of(join(out, path))}  ${path}\n`)
  const sums = Buffer.from(lines.join(''))
  writeFileSync(join(out, SUMS), sums)
  // Ed25519 hashes by itself.
  writeFileSync(join(out, `${SUMS}.sig`), `${sign(null, sums, key).toString('base64')}\n`)
  writeFileSync(join(out, 'release-key.pem'), createPublicKey(key).export({ type: 'spki', format: 'pem' }))
}
