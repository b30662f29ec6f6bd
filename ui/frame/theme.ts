import { cookieValues, setCookie } from '../../src/domain/cookies.ts'
import { factsOf } from '../../src/http/request-facts.ts'

type Theme = 'light' | 'dark'

const COOKIE = 'svc_theme'
const YEAR_SECONDS = 31_536_000

/** The theme that this browser chose; undefined for that of its system. */
export function themeOf(request: Request): Theme | undefined {
  const [value] = cookieValues(request.headers.get('cookie'), COOKIE)
  return value === 'light' || value === 'dark' ? value : undefined
}

/** Anything but light and dark is the system's. */
export function themeCookie(request: Request, chosen: string | undefined): string {
  const isChosen = chosen === 'light' || chosen === 'dark'
  const options = { domain: null, maxAgeSeconds: isChosen ? YEAR_SECONDS : 0 }
  return setCookie(COOKIE, isChosen ? chosen : '', { ...options, isSecure: factsOf(request).isSecure })
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
