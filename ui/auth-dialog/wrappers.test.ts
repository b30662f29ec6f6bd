import { expect, test } from 'bun:test'
import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { AuthDialog, useSession } from '../../packages/auth-dialog/preact.mjs'

test('the Preact wrapper is the element with its attributes', () => {
  expect(render(h(AuthDialog, { label: 'Members <b>', reload: true }))).toBe(
    '<svc-auth label="Members &lt;b>" reload></svc-auth>',
  )
  expect(render(h(AuthDialog, { dialogOnly: true }))).toBe('<svc-auth dialog-only></svc-auth>')
})

test('server rendering does not know who is signed in', () => {
  const Who = () => h('p', null, String(useSession()))
  expect(render(h(Who, null))).toBe('<p>undefined</p>')
})

test('the React wrapper differs only in its library', async () => {
  const text = async (name: string) =>
    (await Bun.file(`${import.meta.dir}/../../packages/auth-dialog/${name}.mjs`).text())
      .replace("import { h } from 'preact'\n", '')
      .replace("'preact/hooks'", "'react'")
      .replaceAll('return h(', 'return createElement(')
      .replace('import { createElement, ', 'import { ')
  expect(await text('preact')).toBe(await text('react'))
})
