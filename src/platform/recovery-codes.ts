import { randomBytes } from 'node:crypto'
import { base32 } from 'oslo/encoding'
import { hashToken } from './tokens.ts'

const RECOVERY_CODES = 10

/** Ten codes of 80 random bits, in groups of four: `abcd-efgh-ijkl-mnop`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () => {
    const text = base32.encode(randomBytes(10), { includePadding: false }).toLowerCase()
    return text.match(/.{4}/g)?.join('-') ?? text
  })

/** The stored form of a code. Ignores case, spaces and hyphens; reads 0, 1 and 8, which base32 lacks, as o, l and b. */
export function hashRecoveryCode(code: string): string {
  const plain = code
    .toLowerCase()
    .replace(/[\s-]/g, '')
    .replaceAll('0', 'o')
    .replaceAll('1', 'l')
    .replaceAll('8', 'b')
  return hashToken(plain)
}
