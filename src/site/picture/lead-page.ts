import { ledCss, ledSrcset, ledUrl } from '../../domain/led-paths.ts'

/** Leads the addresses of elements below the mount while a page passes by. contract 17.2. */
export const leadElements = (mount: string): HTMLRewriter =>
  new HTMLRewriter().on('*', { element: (element) => leadElement(element, mount) })

/**
 * Leads those of styles. It comes after the elements, by itself: a rewriter that looks at the text of styles takes that of
 * `<style media=>` for markup, and a `<!--` in it hides the elements that follow.
 */
export function leadStyles(mount: string): HTMLRewriter {
  let style = ''
  // Where it looks at styles alone, some pages of broken tags are an error of its own.
  return new HTMLRewriter().on('*', { element() {} }).on('style', {
    text(chunk) {
      style += chunk.text
      if (!chunk.lastInTextNode) return void chunk.remove()
      chunk.replace(ledCss(style, mount), { html: true })
      style = ''
    },
  })
}

const LED: Readonly<Record<string, (value: string, mount: string) => string>> = {
  href: ledUrl,
  src: ledUrl,
  poster: ledUrl,
  data: ledUrl,
  srcset: ledSrcset,
  imagesrcset: ledSrcset,
  style: ledCss,
}

function leadElement(element: HTMLRewriterTypes.Element, mount: string): void {
  for (const [name, value] of attributesOf(element)) {
    const led = Object.hasOwn(LED, name) ? LED[name]?.(value, mount) : undefined
    if (led !== undefined && led !== value) element.setAttribute(name, led)
  }
}

/** Of two of one name the first counts. They are read before any is set, which would end the reading. */
function attributesOf(element: HTMLRewriterTypes.Element): ReadonlyMap<string, string> {
  const first = new Map<string, string>()
  for (const [name, value] of element.attributes)
    if (name !== undefined && value !== undefined && !first.has(name)) first.set(name, value)
  return first
}

/** The same of a style sheet. Its bytes stand for themselves, whatever their encoding, if it keeps ASCII. */
export const leadStyle = (bytes: Uint8Array, mount: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(ledCss(Buffer.from(bytes).toString('latin1'), mount), 'latin1'))
