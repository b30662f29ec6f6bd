import { setCookie } from '../../src/domain/cookies.ts'
import { chosenTheme, THEME_COOKIE, type Theme } from '../../src/domain/theme.ts'
import { factsOf } from '../../src/http/request-facts.ts'

const YEAR_SECONDS = 31_536_000

export const themeOf = ({ headers }: Request): Theme | undefined => chosenTheme(headers.get('cookie'))

/** Anything but light and dark is the system's. */
export function themeCookie(request: Request, chosen: string | undefined): string {
  const isChosen = chosen === 'light' || chosen === 'dark'
  const options = { domain: null, maxAgeSeconds: isChosen ? YEAR_SECONDS : 0 }
  return setCookie(THEME_COOKIE, isChosen ? chosen : '', { ...options, isSecure: factsOf(request).isSecure })
}

/** Puts the chosen theme into a page, so that nothing flashes. Pages know nothing of it. */
export function withTheme(request: Request, answer: Response): Response {
  const theme = themeOf(request)
  const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true
  if (theme === undefined || !isPage || answer.body === null) return answer
  return new HTMLRewriter()
    .on('html', { element: (html) => void html.setAttribute('data-theme', theme) })
    .on('meta[name="color-scheme"]', { element: (meta) => void meta.setAttribute('content', theme) })
    .on('button[name="theme"]', {
      element: (button) =>
        void button.setAttribute('aria-pressed', String(button.getAttribute('value') === theme)),
    })
    .transform(answer)
}
