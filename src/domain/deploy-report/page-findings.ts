import { linksInCss } from '../links/css.ts'
import { HtmlLinks } from '../links/html.ts'
import { type Link, MAX_ADDRESS } from '../links/link.ts'
import type { Finding } from './findings.ts'

/** A page or a style sheet: `address` is the raw path at which the site shows it. */
export type Page = { file: string; address: string; text: AsyncIterable<string> }

/** What is asked of the site. `answers` is given a path with its query. */
export type OwnSite = {
  isOwnHost: (host: string) => boolean
  answers: (address: string) => Promise<boolean>
  /** Called at each link, so that others get their turn. */
  pause: () => Promise<void>
}

/** A longer page is read to here. In UTF-16 units. */
const MAX_PAGE = 16 * 1024 * 1024
/** A style sheet is read as a whole. */
const MAX_SHEET = 4 * 1024 * 1024
/** Of one page, so that what it repeats is told once. */
const MAX_TOLD = 10_000

const HTML = /\.(?:html?|xhtml)$/i
const CSS = /\.css$/i

/** Whether a file can have links that are looked at. */
export const hasLinks = (file: string): boolean => HTML.test(file) || CSS.test(file)

/** Tells of the links of a page that lead nowhere, each once. `isCut`: the page is longer than what is read. */
export async function findInPage(
  page: Page,
  site: OwnSite,
  found: (finding: Finding) => void,
): Promise<{ isCut: boolean }> {
  const told = new Set<string>()
  const look = async (links: readonly Link[], base: string | null): Promise<void> => {
    for (const link of links) {
      await site.pause()
      const finding = await findInLink(link, page, base, site)
      const key = finding === null ? '' : `${finding.kind} ${finding.target}`
      if (finding === null || told.has(key)) continue
      if (told.size < MAX_TOLD) told.add(key)
      found(finding)
    }
  }
  return CSS.test(page.file) ? readSheet(page, look) : readPage(page, look)
}

type Look = (links: readonly Link[], base: string | null) => Promise<void>

async function readPage({ text }: Page, look: Look): Promise<{ isCut: boolean }> {
  const links = new HtmlLinks()
  let length = 0
  for await (const piece of text) {
    await look(links.read(piece), links.base)
    length += piece.length
    if (length > MAX_PAGE) return { isCut: true }
  }
  await look(links.end(), links.base)
  return { isCut: links.isCut }
}

async function readSheet({ text }: Page, look: Look): Promise<{ isCut: boolean }> {
  let sheet = ''
  for await (const piece of text) {
    sheet += piece
    if (sheet.length > MAX_SHEET) break
  }
  for (const link of linksInCss(sheet)) await look([link], null)
  return { isCut: sheet.length > MAX_SHEET }
}

/** Any host will do for what is relative: only its path is used. */
const HERE = 'https://here.invalid'

/** A longer one, with all that a `<base>` adds and what is encoded, is not asked about. */
const MAX_TARGET = 4 * MAX_ADDRESS
const LONG_HOST = /^(?:https?:)?[/\\]{2,}[^/?#\\]{1001}/i

const isOfWeb = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:'

/** A long host is not read: that would take the square of its length. */
function parse(address: string, base: URL): URL | null {
  const bare = address.replace(/[\t\n\r]/g, '')
  return LONG_HOST.test(bare) ? null : URL.parse(bare, base)
}

/** As browsers do, a `<base>` that is no address of the web is passed over; so is one that is too long. */
function baseOf(base: string | null, own: URL): URL {
  const url = base === null || base.length > MAX_ADDRESS ? null : parse(base.trim(), own)
  return url !== null && isOfWeb(url) ? url : own
}

async function findInLink(
  { kind, address, line }: Link,
  { file, address: at }: Page,
  base: string | null,
  { isOwnHost, answers }: OwnSite,
): Promise<Finding | null> {
  const own = new URL(at, HERE)
  const url = parse(address, baseOf(base, own))
  if (url === null || url.href.length > MAX_TARGET || !isOfWeb(url)) return null
  if (url.origin !== HERE && !isOwnHost(url.host)) {
    if (kind !== 'asset' || url.protocol === 'https:') return null
    return {
      kind: 'mixed-content',
      file,
      line,
      target: url.href,
      message: `${url.href} is loaded without TLS, which a browser refuses on a page with TLS: write https://.`,
    }
  }
  const target = `${url.pathname}${url.search}`
  if (await answers(target)) return null
  return kind === 'link'
    ? { kind: 'link-missing', file, line, target, message: `There is nothing at ${target}: mend the link.` }
    : {
        kind: 'asset-missing',
        file,
        line,
        target,
        message: `There is nothing at ${target}: publish the file or mend its address.`,
      }
}
