import { type Html, html } from './html.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * A moment, from the API's ISO 8601 text in UTC; `none` is shown for null. A script replaces it by how long ago it was,
 * and hovering shows the exact time in the viewer's time zone.
 */
export function time(iso: string | null, none = 'Never'): Html {
  if (iso === null) return html`<span class="muted">${none}</span>`
  return html`<time datetime=${iso} title=${formatTime(iso)} data-ago>${formatTime(iso)}</time>`
}

/** Formats `2026-11-20T09:05:00.000Z` as `20 Nov 2026, 09:05 UTC`. Returns any other text unchanged. */
export function formatTime(iso: string): string {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d)/.exec(iso)
  const month = MONTHS[Number(match?.[2]) - 1]
  if (match === null || month === undefined) return iso
  return `${Number(match[3])} ${month} ${match[1]}, ${match[4]} UTC`
}

/** Only the day, for what lasts since then: `20 Nov 2026`. `none` is shown for null. */
export function day(iso: string | null, none = 'Never'): Html {
  if (iso === null) return html`<span class="muted">${none}</span>`
  return html`<time datetime=${iso} title=${formatTime(iso)} data-day>${formatTime(iso).split(',')[0]}</time>`
}

/** A moment that people have entered, such as that of a booking. How long ago it was would not tell it. */
export const moment = (iso: string): Html => html`<time datetime=${iso}>${formatTime(iso)}</time>`
