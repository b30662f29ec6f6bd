import { expect, test } from 'bun:test'
import { mayBeHashedPart } from './hashed-part.ts'

test.each([
  'assets/main.3f2a9c1d.js',
  'img/photo.3f2a9c1d.png',
  'assets/index-CcIYShBm.css',
  'assets/Lazy-IQPYCrzu.js',
  'assets/s-CMNnYTV-.js',
  'assets/index-C_gcIYdA.js',
  '_app/immutable/nodes/3.Cckk7-aE.js',
  '_app/immutable/assets/app.css',
  '_nuxt/DX-xy1B5.js',
  'DX-xy1B5.js',
  'sub/_next/static/chunks/2d85iwg_4d2-m.js',
  'assets/guide_a.md.07ruxakP.lean.js',
  'assets/module-BpwO-EsE.wasm',
])('%s may be a hashed chunk', (path) => {
  expect(mayBeHashedPart(path)).toBe(true)
})

test.each([
  'old.js',
  'component.js',
  'my-component.js',
  'my-Settings.js',
  'lib-TypeDefs.js',
  'old-page1.js',
  'script-v2.js',
  'jquery-3.7.1.min.js',
  '20241105.js',
  'app-20241105.js',
  'assets/photo-CcIYShBm.png',
  '_next/static/photo.png',
  'my_next/static/old.js',
  'index-CcIYShBm',
  'index-CcIYShBm.html',
])('%s is not taken for a hashed chunk', (path) => {
  expect(mayBeHashedPart(path)).toBe(false)
})
