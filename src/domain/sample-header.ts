import { hasSessionCookie } from './cookies.ts'

/** A header that a sample request carries, or what is wrong with it. */
type SampleHeader = { ok: true; name: string; value: string } | { ok: false; error: string }

const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'x-api-key'])
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/
const PRINTABLE = /^[\t\x20-\x7e]*$/
const MAX_LENGTH = 2_000

/** Reads `Name: value`. Credentials are refused: who is asking is said in another way. contract 13 §10. */
export function parseSampleHeader(text: string): SampleHeader {
  const colon = text.indexOf(':')
  const name = text.slice(0, colon).trim()
  const value = text.slice(colon + 1).trim()
  if (colon === -1 || !TOKEN.test(name) || !PRINTABLE.test(value) || text.length > MAX_LENGTH)
    return { ok: false, error: 'A header, such as Accept-Language: de' }
  const isCredential = CREDENTIALS.has(name.toLowerCase()) || hasSessionCookie(`${name}: ${value}`)
  return isCredential ? { ok: false, error: 'Headers without credentials' } : { ok: true, name, value }
}
