import { type Html, html } from '../html.ts'
import type { Tone } from './notice.ts'

export const badge = (label: string, tone: Tone | 'plain' = 'plain'): Html => html`
  <span class=${`badge badge-${tone}`}>${label}</span>
`

/** Who sees a site, in one word. */
export const visibilityBadge = (isPublic: boolean): Html =>
  isPublic ? badge('Public', 'good') : badge('Private')
