// Test support: a page with sample props. samples.ts lists all samples, for tests and screenshots.

import type { Html } from '../components/html.ts'

/** One page in one state. */
export type Sample = {
  name: string
  html: () => Html
  /** The same page with every text in its props replaced. */
  htmlWith: (replace: (text: string, key: string) => string) => Html
}

export const sample = <Props>(name: string, render: (props: Props) => Html, props: Props): Sample => ({
  name,
  html: () => render(props),
  htmlWith: (replace) => render(replaceTexts(props, replace, '') as Props),
})

function replaceTexts(value: unknown, replace: (text: string, key: string) => string, key: string): unknown {
  if (typeof value === 'string') return replace(value, key)
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, replace, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, replaceTexts(item, replace, name)]),
  )
}
