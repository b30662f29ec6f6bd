import { type Html, html } from './html.ts'
import type { Tone } from './notice.ts'

/** `title`: all of a label that may be so long that the stylesheet cuts it. */
export const badge = (label: string, tone: Tone | 'plain' = 'plain', title?: string): Html => html`
  <span class=${`badge badge-${tone}`} title=${title}>${label}</span>
`

/** Whether a site is public or private. */
export const visibilityBadge = (isPublic: boolean): Html =>
  isPublic ? badge('Public', 'good') : badge('Private')
