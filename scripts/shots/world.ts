import { WITH_ADMIN } from '../../ui/e2e/journey.ts'

export const BASE_DOMAIN = 'sites.example.com'
export const ADMIN_ORIGIN = `http://admin.${BASE_DOMAIN}`

/** The server of the pictures: its names are those of a real one, and the browser is told where they are. */
export const SHOTS_ENV = {
  ...WITH_ADMIN,
  BASE_DOMAIN,
  PUBLIC_URL: ADMIN_ORIGIN,
  RATE_LIMIT_API: '0',
  RATE_LIMIT_UPLOAD: '0',
}
