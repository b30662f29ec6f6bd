import { registeredTypes } from './registered-types.macro.ts' with { type: 'macro' }

/** The media type of an extension in lower case: ours, else that of `mime-db`; undefined if neither has one. contract 12.3. */
export function typeOfExtension(extension: string): string | undefined {
  return OUR_TYPES.get(extension) ?? registered().get(extension)
}

/** From IANA's registry, or what browsers and clients expect if it has none. These come before those of `mime-db`. */
const EXTENSIONS: Record<string, string> = {
  'text/html': 'html htm',
  'text/css': 'css',
  'text/javascript': 'js mjs cjs',
  'text/plain':
    'txt text log conf ini sh bash zsh py rb go rs kt swift lua sql c h cpp java vue svelte astro diff patch rst adoc bib pem asc',
  'text/markdown': 'md markdown',
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/calendar': 'ics',
  'text/vcard': 'vcf',
  'text/vtt': 'vtt',
  'text/x-component': 'htc',
  'application/json': 'json map topojson czml har',
  'application/x-ipynb+json': 'ipynb',
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
  'application/x-apple-aspen-config': 'mobileconfig',
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
  'image/svg+xml': 'svg svgz',
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
  'image/vnd.radiance': 'hdr',
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

const OUR_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS).flatMap(([type, extensions]) =>
    extensions.split(' ').map((extension): [string, string] => [extension, type]),
  ),
)

let registeredByExtension: ReadonlyMap<string, string> | undefined

/** Read when first needed: most files have one of our types. */
function registered(): ReadonlyMap<string, string> {
  registeredByExtension ??= new Map(registeredTypes().split('\n').flatMap(typesOfLine))
  return registeredByExtension
}

function typesOfLine(line: string): [extension: string, type: string][] {
  const [type = '', ...extensions] = line.split(' ')
  return extensions.map((extension) => [extension, type])
}
