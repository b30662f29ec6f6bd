import { randomBytes } from '../../../platform/random.ts'

/** No vowels, so that no words come out, and no letters that are taken for others. contract 16 §7. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8

/** Eight random letters: 34 bits. `XXXXXXXX`; people see `shownCode`. */
export function newUserCode(): string {
  let code = ''
  while (code.length < LENGTH)
    for (const byte of randomBytes(2 * LENGTH)) {
      // 240 is a multiple of 20: no letter is likelier than another.
      if (byte < 240 && code.length < LENGTH) code += LETTERS[byte % LETTERS.length]
    }
  return code
}

/** `XXXX-XXXX`. */
export const shownCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/** What somebody typed, without regard to case, `-` and spaces. */
export const typedCode = (text: string): string => text.slice(0, 100).replace(/[-\s]/g, '').toUpperCase()
