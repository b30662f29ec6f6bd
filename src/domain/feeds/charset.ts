import { XmlError } from './xml-reader.ts'

/** Bytes in which the declaration must be. */
const LOOKED_AT = 1024

/**
 * Decodes XML by its byte order mark, the header, or its declaration, else as UTF-8. `start` holds its first bytes, at least
 * a kilobyte if there is as much. Throws `XmlError` for an encoding that is not known.
 */
export function xmlDecoder(start: Uint8Array, contentType: string): TextDecoder {
  const label =
    ofMark(start) ?? ofHeader(contentType) ?? ofFirstBytes(start) ?? ofDeclaration(start) ?? 'utf-8'
  try {
    return new TextDecoder(label)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new XmlError(`is in the encoding ${JSON.stringify(label.slice(0, 50))}, which is not known`)
  }
}

function ofMark([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0xff && b === 0xfe ? 'utf-16le' : undefined
}

const ofHeader = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*"?([^\s";]{1,50})/i.exec(contentType)?.[1]

/** UTF-16 without a mark. XML 1.0, appendix F. */
function ofFirstBytes([a, b]: Uint8Array): string | undefined {
  if (a === 0x3c && b === 0) return 'utf-16le'
  return a === 0 && b === 0x3c ? 'utf-16be' : undefined
}

/** A declaration that can be read byte for byte does not stand in UTF-16, whatever it says. */
function ofDeclaration(start: Uint8Array): string | undefined {
  const text = Buffer.from(start.subarray(0, LOOKED_AT)).toString('latin1')
  const label = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']{1,50})["']/.exec(text)?.[1]
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label
}
