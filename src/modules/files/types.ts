import { extensionOf, mimeTypeOf } from '../../domain/content-type.ts'
import { typeOfExtension } from '../../domain/extension-types.ts'

/** The types of files: as declared by who sends them, and as their names say. contract 14.2. */

const UNKNOWN = 'application/octet-stream'
const TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/
const MAX_TYPE = 200

/** The declared type, or the one of the name where none is declared. */
export function typeOfFile(declared: string | null, name: string): string {
  const type = bareType(declared)
  return type === null || type === UNKNOWN ? mimeTypeOf(name) : type
}

/** Both what is declared and what the extension means must be allowed: `image/png` on `x.html` is not an image. */
export function isAllowedType(allowed: readonly string[], declared: string | null, name: string): boolean {
  const byName = typeOfExtension(extensionOf(name))
  const types = [bareType(declared) ?? byName ?? UNKNOWN, ...(byName === undefined ? [] : [byName])]
  return types.every((type) => allowed.some((pattern) => matches(pattern.trim().toLowerCase(), type)))
}

function matches(pattern: string, type: string): boolean {
  if (pattern === '*/*' || pattern === type) return true
  return pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1))
}

/** Without parameters, in lower case; null for what is no type. */
function bareType(declared: string | null): string | null {
  const type = declared?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return type.length <= MAX_TYPE && TYPE.test(type) ? type : null
}
