/** How addresses stand for HTML files, by Cloudflare's names. contract 13 §5. */
export const HTML_HANDLINGS = [
  'auto-trailing-slash',
  'force-trailing-slash',
  'drop-trailing-slash',
  'none',
] as const

export type HtmlHandling = (typeof HTML_HANDLINGS)[number]

export const isHtmlHandling = (text: string): text is HtmlHandling =>
  (HTML_HANDLINGS as readonly string[]).includes(text)
