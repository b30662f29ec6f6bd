import { type Content, type Html, html } from './html.ts'

/** Cards that stand beside one another on a wide screen, and below one another elsewhere. contract 17.12. */
export const sides = (...cards: readonly Content[]): Html => html`<div class="sides">${cards}</div>`
