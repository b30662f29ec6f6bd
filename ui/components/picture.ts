import { type Html, html } from './html.ts'

type PictureProps = {
  /** Its first letter stands for a picture that is not there. */
  name: string
  /** Null where there is no picture. */
  src: string | null
  size?: 'small' | 'large'
}

/**
 * A site, small: the site itself in a frame that can do nothing. A script puts the frame in, so that without scripts the letter
 * stays. contract 17.2.
 */
export const picture = ({ name, src, size = 'small' }: PictureProps): Html => html`
  <span class=${`picture picture-${size}`}>
    <span class="tile" aria-hidden="true" data-letter=${letterOf(name)}></span>
    ${src !== null && html`<template>${frame(src)}</template>`}
  </span>
`

const frame = (src: string): Html => html`
  <iframe loading="lazy" sandbox="allow-scripts" inert aria-hidden="true" tabindex="-1" src=${src}></iframe>
`

/** The icon of a site in a list, or its letter. */
export const siteIcon = (name: string, src: string | null): Html =>
  src === null
    ? html`<span class="site-icon tile" aria-hidden="true" data-letter=${letterOf(name)}></span>`
    : html`<img class="site-icon" src=${src} alt="" aria-hidden="true" width="24" height="24" loading="lazy" />`

const letterOf = (name: string): string => (name.match(/[\p{L}\p{N}]/u)?.[0] ?? '·').toUpperCase()
