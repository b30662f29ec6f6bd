import { type Content, type Html, html } from './html.ts'
import { type IconName, icon } from './icon.ts'

export type Tone = 'info' | 'good' | 'warn' | 'bad'

export type Notice = {
  tone: Tone
  message: Content
  /** Screen readers announce it immediately: for the result of an action. */
  live?: boolean
  /** Says that a form succeeded. A script shows it over the page. */
  isToast?: boolean
  /** A button that goes with the message. */
  action?: Content
}

const ICONS = { info: 'info', good: 'check', warn: 'warning', bad: 'warning' } as const satisfies Record<
  Tone,
  IconName
>

export const notice = ({ tone, message, live = false, isToast = false, action }: Notice): Html => html`
  <div class=${`notice notice-${tone}${isToast ? ' toast' : ''}`} role=${liveRole(tone, live)}>
    ${icon(ICONS[tone])}
    <div class="notice-text">${message}</div>
    ${action}
  </div>
`

function liveRole(tone: Tone, live: boolean): 'alert' | 'status' | undefined {
  if (!live) return undefined
  return tone === 'bad' ? 'alert' : 'status'
}
