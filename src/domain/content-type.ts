import { hasTrait, TRAIT, type Traits, UNKNOWN_TRAITS } from './content-traits.ts'
import { typeOfExtension } from './extension-types.ts'

const UNKNOWN = 'application/octet-stream'

/**
 * The `Content-Type` to serve a file with, by its path and bytes. `charset=utf-8` stands only where it is true, so that
 * elsewhere the page itself or the browser decides. contract 12.3.
 */
export function contentTypeOf(path: string, traits: Traits): string {
  const type = mimeTypeOf(path, traits)
  return isText(type) && hasTrait(traits, TRAIT.utf8) ? `${type}; charset=utf-8` : type
}

/** Only the media type. By the path alone, if no traits are given: `application/octet-stream` where the bytes decide. */
export function mimeTypeOf(path: string, traits: Traits = UNKNOWN_TRAITS): string {
  return typeOfExtension(extensionOf(path)) ?? typeByBytes(path, traits)
}

/** Whether `contentTypeOf` looks at the bytes: for a type without characters, only the path counts. */
export const dependsOnBytes = (path: string): boolean => isTypedByBytes(path) || isText(mimeTypeOf(path))

/** Whether `mimeTypeOf` looks at the bytes: a file without an extension, or with an unknown one. */
export const isTypedByBytes = (path: string): boolean => typeOfExtension(extensionOf(path)) === undefined

/** Never HTML or a script, whatever the bytes look like. contract 12.3. */
function typeByBytes(path: string, traits: Traits): string {
  if (IS_READ_BY_CLIENTS.test(path)) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (hasTrait(traits, TRAIT.json))
      return name === 'webfinger' ? 'application/jrd+json' : 'application/json'
    if (hasTrait(traits, TRAIT.xml)) return name === 'host-meta' ? 'application/xrd+xml' : 'application/xml'
  }
  return hasTrait(traits, TRAIT.text) ? 'text/plain' : UNKNOWN
}

/** Addresses at which clients look for JSON or XML (RFC 8615), and the one that Apple's also try. */
const IS_READ_BY_CLIENTS = /(?:^|\/)\.well-known\/|^\/?apple-app-site-association$/

/** A file that is stored compressed: how, and the path that it would have otherwise. */
export type StoredCoded = { coding: 'gzip' | 'br'; innerPath: string | null }

/**
 * Files whose name says that they are sent as they are with a `Content-Encoding`, if their bytes are that and the file
 * `innerPath` is not there. contract 12.3.
 */
export function storedCodedOf(path: string): StoredCoded | undefined {
  const extension = extensionOf(path)
  if (extension === 'svgz') return { coding: 'gzip', innerPath: null }
  if (extension !== 'gz' && extension !== 'br') return undefined
  const innerPath = path.slice(0, -'.gz'.length)
  return CODED.test(innerPath) ? { coding: extension === 'br' ? 'br' : 'gzip', innerPath } : undefined
}

/** What build tools compress themselves: Unity, Godot, Blazor. */
const CODED = /\.(?:js|wasm|data|symbols\.json)$/i

/** The type of such a file once it is decoded; its characters are not looked at, so there is no charset. */
export const decodedTypeOf = (path: string, { innerPath }: StoredCoded): string =>
  mimeTypeOf(innerPath ?? path)

/** Text types that neither their top-level type nor their suffix identifies as text. */
const TEXT_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/x-ndjson',
  'application/yaml',
  'application/toml',
  'application/graphql',
  'application/xml',
])

/** Formats that are not text but still compress well. */
const COMPRESSIBLE_TYPES: ReadonlySet<string> = new Set([
  'application/wasm',
  'application/rtf',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-fontobject',
  'application/vnd.ms-powerpoint',
  'application/vnd.apple.mpegurl',
  'application/x-tar',
  'font/collection',
  'font/otf',
  'font/ttf',
  'image/bmp',
  'image/x-icon',
  'model/gltf-binary',
  'model/obj',
  'model/stl',
])

/** Whether a browser that opens this type shows a page, which may run scripts: HTML, SVG and all XML, and what holds such. */
export function runsAsPage(type: string): boolean {
  const bare = bareType(type)
  return PAGES.has(bare) || bare.endsWith('+xml') || bare.startsWith('multipart/')
}

const PAGES: ReadonlySet<string> = new Set([
  'text/html',
  'text/xml',
  'text/xsl',
  'application/xml',
  'message/rfc822',
])

/** Whether a page may load this type as a script or a module. */
export const isScript = (type: string): boolean =>
  /^(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script/.test(bareType(type)) ||
  bareType(type) === 'application/wasm'

const bareType = (type: string): string => type.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** contract 12.2. */
export function isHtml(path: string): boolean {
  const type = typeOfExtension(extensionOf(path))
  return type === 'text/html' || type === 'application/xhtml+xml'
}

/** Of smaller files compression saves too little; larger ones are downloads, which clients request in ranges. contract §6. */
export const isCompressedSize = (sizeBytes: number): boolean =>
  sizeBytes >= 1024 && sizeBytes <= 256 * 1024 * 1024

/** Whether a file of such a size is sent in compressed forms. */
export const isWorthCompressing = (path: string, traits: Traits): boolean =>
  storedCodedOf(path) === undefined && isCompressible(mimeTypeOf(path, traits))

/** Accepts a type with or without parameters. */
export function isCompressible(type: string): boolean {
  const end = type.indexOf(';')
  const bare = (end === -1 ? type : type.slice(0, end)).trim().toLowerCase()
  return isText(bare) || COMPRESSIBLE_TYPES.has(bare)
}

function isText(type: string): boolean {
  return type.startsWith('text/') || type.endsWith('+json') || type.endsWith('+xml') || TEXT_TYPES.has(type)
}

/** What follows the last dot of the last segment, in lower case; empty if there is no dot. */
export function extensionOf(path: string): string {
  const dot = path.lastIndexOf('.')
  return dot > path.lastIndexOf('/') ? path.slice(dot + 1).toLowerCase() : ''
}
