import { cookieValues } from './cookies.ts'

export type Theme = 'light' | 'dark'

/** Of a browser, on the admin host. contract 17.10. */
export const THEME_COOKIE = 'svc_theme'

/** The theme that a browser with these cookies chose; undefined for that of its system. */
export function chosenTheme(cookies: string | null): Theme | undefined {
  const [value] = cookieValues(cookies, THEME_COOKIE)
  return value === 'light' || value === 'dark' ? value : undefined
}
