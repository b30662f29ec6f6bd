import { type Html, html } from './html.ts'

/** Outlines on a 24 px grid, drawn in the text colour. */
const PATHS = {
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4 20c.8-3.6 4-5.5 8-5.5s7.2 1.9 8 5.5',
  chart: 'M4 20V4M4 20h16M8.5 16v-4M13 16V8M17.5 16v-6',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 7v5.5l3.5 2',
  close: 'm6 6 12 12M18 6 6 18',
  cog: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.8v4.4M9 14.8v4.4',
  down: 'M12 5v14M6 13l6 6 6-6',
  file: 'M6 3.5h8l4 4v13H6zM14 3.5v4h4',
  folder: 'M3.5 6h6l2 2.5h9v10h-17z',
  group:
    'M12 11.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM6.3 19.5c.5-3 2.7-4.7 5.7-4.7s5.2 1.7 5.7 4.7M5.3 7.4a2.1 2.1 0 0 0 0 4.1M18.7 7.4a2.1 2.1 0 0 1 0 4.1M2 17.3c.3-1.6 1.2-2.7 2.7-3.1M22 17.3c-.3-1.6-1.2-2.7-2.7-3.1',
  health: 'M3 12.5h4.5L10 6l4 12 2.5-5.5H21',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 11v5.5M12 7.5v.1',
  key: 'M8 19a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM11.3 11.2 20 3M16 6.8l3 3',
  list: 'M8 6h12M8 12h12M8 18h12M4 6v.1M4 12v.1M4 18v.1',
  lock: 'M5.5 10.5h13V20h-13zM8.5 10.5V8a3.5 3.5 0 0 1 7 0v2.5M12 14v2.5',
  machines: 'M4 4h16v6.5H4zM4 13.5h16V20H4zM7.5 7.3v.1M7.5 16.8v.1M11 7.3h5.5M11 16.8h5.5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  people:
    'M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c.6-3.4 3.2-5 6.5-5s5.9 1.6 6.5 5M16 5a3.3 3.3 0 0 1 0 6.2M18 15.3c2 .7 3.2 2.3 3.5 4.7',
  projects: 'M12 3.5 21 8l-9 4.5L3 8zM3 12.5l9 4.5 9-4.5M3 16.5l9 4.5 9-4.5',
  rules: 'M4 6h7M15 6h5M4 12h3M11 12h9M4 18h9M17 18h3M13 4v4M9 10v4M15 16v4',
  storage:
    'M4 6.5c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3ZM4 6.5v11c0 1.7 3.6 3 8 3s8-1.3 8-3v-11M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3',
  up: 'M12 19V5M6 11l6-6 6 6',
  upload: 'M12 16V4.5M7 9l5-5 5 5M4 16.5v3.5h16v-3.5',
  warning: 'M12 4 2.8 20h18.4zM12 10v4.5M12 17.3v.1',
} as const

export type IconName = keyof typeof PATHS

/** Decoration beside words, never the only label. */
export const icon = (name: IconName): Html => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>
`
