const UNKNOWN = 'application/octet-stream'

/** Media types and their file extensions: from IANA's registry, or what browsers expect if it has none. */
const EXTENSIONS: Record<string, string> = {
  'text/html': 'html htm',
  'text/css': 'css',
  'text/javascript': 'js mjs cjs',
  'text/plain': 'txt text log conf ini',
  'text/markdown': 'md markdown',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/calendar': 'ics',
  'text/vcard': 'vcf',
  'text/vtt': 'vtt',
  'text/x-component': 'htc',
  'application/json': 'json map',
  'application/ld+json': 'jsonld',
  'application/geo+json': 'geojson',
  'application/feed+json': 'jsonfeed',
  'application/manifest+json': 'webmanifest',
  'application/x-ndjson': 'ndjson jsonl',
  'application/yaml': 'yaml yml',
  'application/toml': 'toml',
  'application/graphql': 'graphql gql',
  'application/xml': 'xml xsl xsd',
  'application/xhtml+xml': 'xhtml xht',
  'application/rss+xml': 'rss',
  'application/atom+xml': 'atom',
  'application/vnd.google-earth.kml+xml': 'kml',
  'application/gpx+xml': 'gpx',
  'application/wasm': 'wasm',
  'application/pdf': 'pdf',
  'application/rtf': 'rtf',
  'application/epub+zip': 'epub',
  'application/zip': 'zip',
  'application/gzip': 'gz tgz',
  'application/x-bzip2': 'bz2',
  'application/x-xz': 'xz',
  'application/zstd': 'zst',
  'application/x-tar': 'tar',
  'application/x-7z-compressed': '7z',
  'application/vnd.rar': 'rar',
  'application/java-archive': 'jar',
  'application/vnd.android.package-archive': 'apk',
  'application/x-apple-diskimage': 'dmg',
  'application/vnd.ms-fontobject': 'eot',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.apple.mpegurl': 'm3u8',
  'application/dash+xml': 'mpd',
  'font/woff2': 'woff2',
  'font/woff': 'woff',
  'font/ttf': 'ttf',
  'font/otf': 'otf',
  'font/collection': 'ttc',
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/apng': 'apng',
  'image/jpeg': 'jpg jpeg jfif',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/jxl': 'jxl',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'image/bmp': 'bmp',
  'image/tiff': 'tif tiff',
  'image/x-icon': 'ico cur',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/aac': 'aac',
  'audio/ogg': 'ogg oga',
  'audio/opus': 'opus',
  'audio/flac': 'flac',
  'audio/wav': 'wav',
  'audio/webm': 'weba',
  'audio/midi': 'mid midi',
  'video/mp4': 'mp4 m4v',
  'video/webm': 'webm',
  'video/ogg': 'ogv',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/x-msvideo': 'avi',
  'video/mpeg': 'mpg mpeg',
  'video/mp2t': 'ts',
  'model/gltf+json': 'gltf',
  'model/gltf-binary': 'glb',
  'model/obj': 'obj',
  'model/stl': 'stl',
}

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

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS).flatMap(([type, extensions]) =>
    extensions.split(' ').map((extension): [string, string] => [extension, type]),
  ),
)

/** The `Content-Type` to serve a file with, based on its extension, with `charset=utf-8` for text. contract §6. */
export function contentTypeOf(path: string): string {
  const type = mimeTypeOf(path)
  return isText(type) ? `${type}; charset=utf-8` : type
}

/** Only the media type, as in an asset's `mimeType`; `application/octet-stream` for an unknown extension. */
export function mimeTypeOf(path: string): string {
  return TYPES.get(extensionOf(path)) ?? UNKNOWN
}

/** Whether a browser that opens this type shows a page, which may run scripts: HTML, SVG and all XML. */
export function runsAsPage(type: string): boolean {
  const bare = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return bare === 'text/html' || bare === 'text/xml' || bare === 'application/xml' || bare.endsWith('+xml')
}

/** contract 12.2. */
export function isHtml(path: string): boolean {
  const type = mimeTypeOf(path)
  return type === 'text/html' || type === 'application/xhtml+xml'
}

/** Whether storing compressed variants is worthwhile. Accepts a type with or without parameters. */
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
