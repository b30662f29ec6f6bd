import { type Html, html } from '../html.ts'
import type { Tone } from './notice.ts'

export const badge = (label: string, tone: Tone | 'plain' = 'plain'): Html => html`
  <span class=${`badge badge-${tone}`}>${label}</span>
`

/** Whether a site is public or private. */
export const visibilityBadge = (isPublic: boolean): Html =>
  isPublic ? badge('Public', 'good') : badge('Private')
