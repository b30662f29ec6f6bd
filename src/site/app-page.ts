import { type MediaRange, parseAccept, rangeFor } from '../domain/accept.ts'
import { isRoutingFile } from '../domain/routing/compile.ts'

/** `why` is a sentence for a person. */
type Decision = { isSent: boolean; why: string }

/**
 * Whether a single-page app answers a path that has no file with its page: the path does not look like a file, and the
 * request accepts HTML. `plain` is the plain path. contract 12.4.
 */
export function decideAppPage({ headers }: Request, plain: string): Decision {
  if (isRoutingFile(plain)) return no('The path is that of a routing file, which is never served')
  const extension = assetExtension(plain)
  if (extension !== null)
    return no(`The path ends in .${extension}, so it stands for a file and not for a page`)
  return decideHtml(headers.get('accept') ?? '', headers.get('sec-fetch-dest'))
}

/** Extensions that an address of an app does not end in. A dot alone says nothing: `/users/ann@example.com`, `/v1.2`. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set(
  (
    'avif bmp cjs css csv cur doc docx eot gif gz htm html ico jpeg jpg js json jsonld log m3u8 m4a m4v map md mjs ' +
    'mp3 mp4 mpd ogg ogv opus otf pdf png rss atom svg tar tgz ts ttc ttf txt vtt wasm wav webm webmanifest webp ' +
    'woff woff2 xls xlsx xml yaml yml zip'
  ).split(' '),
)

function assetExtension(plain: string): string | null {
  const name = plain.slice(plain.lastIndexOf('/') + 1)
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return name.includes('.') && KNOWN_EXTENSIONS.has(extension) ? extension : null
}

const PAGE_TYPES = ['text/html', 'application/xhtml+xml'] as const
/** What a browser shows: a page, a frame or an embedded page. */
const SHOWN: ReadonlySet<string> = new Set(['document', 'iframe', 'frame', 'embed', 'object'])

/** Whoever names HTML gets it. Whoever takes anything gets it too, unless a browser loads a part of a page. */
function decideHtml(accept: string, destination: string | null): Decision {
  const ranges = parseAccept(accept)
  const named = PAGE_TYPES.find((type) => (nameOf(ranges, type)?.weight ?? 0) > 0)
  if (named !== undefined) return yes(`Accept names ${named}`)
  const range = rangeFor(ranges, PAGE_TYPES[0])
  if (ranges.length > 0 && range === undefined) return no(`Accept does not hold ${PAGE_TYPES[0]}`)
  if (range?.weight === 0) return no(`Accept refuses ${PAGE_TYPES[0]}: ${range.type} has the weight 0`)
  const allows = range === undefined ? 'There is no Accept' : `Accept allows ${range.type}`
  if (destination === null) return yes(`${allows}, and there is no Sec-Fetch-Dest`)
  return SHOWN.has(destination)
    ? yes(`${allows}, and Sec-Fetch-Dest is ${destination}`)
    : no(`${allows}, but Sec-Fetch-Dest is ${destination}, which is no page`)
}

/** The range that names a type. Parameters that say nothing about our pages, such as `profile`, do no harm. */
function nameOf(ranges: readonly MediaRange[], type: string): MediaRange | undefined {
  const own = ranges.filter((range) => range.type === type)
  return rangeFor(own, `${type};charset=utf-8`) ?? own.find(({ weight }) => weight > 0)
}

const yes = (why: string): Decision => ({ isSent: true, why })
const no = (why: string): Decision => ({ isSent: false, why })
