import { describe, expect, test } from 'bun:test'
import { AGAIN_MS } from '../frame/obey-once.ts'
import { assets, assetUrl } from './manifest.ts'

const css = assets.get(assetUrl('app.css'))?.body ?? ''
const script = assets.get(assetUrl('app.js'))?.body ?? ''

test('an asset is served at its hashed address', () => {
  expect(assetUrl('app.css')).toMatch(/^\/_svc\/assets\/app\.[0-9a-f]{12}\.css$/)
  expect(assetUrl('favicon.svg')).toMatch(/^\/_svc\/assets\/favicon\.[0-9a-f]{12}\.svg$/)
  expect(assets.get(assetUrl('app.css'))?.contentType).toBe('text/css; charset=utf-8')
  expect(assets.get(assetUrl('favicon.svg'))?.contentType).toBe('image/svg+xml; charset=utf-8')
})

test('the stylesheet is small and loads nothing', () => {
  expect(new TextEncoder().encode(css).length).toBeLessThan(40_000)
  expect(css).not.toMatch(/url\(|@import|@font-face/)
})

test('the script is small, and never parses text as markup', () => {
  expect(Bun.gzipSync(script).length).toBeLessThan(40_000)
  expect(script).not.toMatch(
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?:\/\//,
  )
})

test('the script blocks a second click for as long as the server answers it', () => {
  expect(script).toContain(`\nconst AGAIN_MS = ${AGAIN_MS}\n`)
})

/** WCAG 2.2 AA: 4.5 for text (1.4.3), 3 for the edges of controls (1.4.11). */
const pairs: [ink: string, paper: string, least: number][] = [
  ...['bg', 'surface', 'sunken'].flatMap((paper): [string, string, number][] => [
    ['text', paper, 4.5],
    ['muted', paper, 4.5],
    ['accent', paper, 4.5],
    ['bad', paper, 4.5],
  ]),
  ['text', 'accent-soft', 4.5],
  ['text', 'good-soft', 4.5],
  ['text', 'warn-soft', 4.5],
  ['text', 'bad-soft', 4.5],
  ['accent-strong', 'accent-soft', 4.5],
  ['accent-strong', 'surface', 4.5],
  ['good', 'good-soft', 4.5],
  ['warn', 'warn-soft', 4.5],
  ['bad', 'bad-soft', 4.5],
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'accent-strong', 4.5],
  ['on-bad', 'bad', 4.5],
  ['on-bad', 'bad-strong', 4.5],
  ['good', 'sunken', 4.5], // the colours of highlighted code
  ['warn', 'sunken', 4.5],
  ['chart-4', 'sunken', 4.5],
  ['control', 'surface', 3],
  ['control', 'bg', 3],
  ['chart-1', 'surface', 3],
  ['chart-2', 'surface', 3],
  ['chart-4', 'surface', 3],
]

const [light = '', dark = ''] = css.split('prefers-color-scheme: dark', 2)

describe.each([
  ['light', tokensOf(light)],
  ['dark', tokensOf(dark)],
])('in the %s theme', (_theme, tokens) => {
  test.each(pairs)('%s on %s has a contrast of at least %p', (ink, paper, least) => {
    expect(contrast(tokens.get(ink), tokens.get(paper))).toBeGreaterThanOrEqual(least)
  })
})

function tokensOf(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/--([\w-]+): #([0-9a-f]{6});/g)].map(([, name = '', hex = '']) => [name, hex]),
  )
}

function contrast(one = '', other = ''): number {
  const [darker = Number.NaN, lighter = Number.NaN] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(hex: string): number {
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
