import { expect, test } from 'bun:test'
import { flawOfCode } from './check-code.ts'

const NO_HANDLER = /^must declare a function named handler/
const MODULE = /^must be a script that declares handler, without import and export/

test.each<[code: string, message: RegExp, line: number, column: number]>([
  ['const handler = (=> 1', /^Unexpected =>/, 1, 18],
  ['const a = 1\nconst handler = a b', /^Expected ";" but found "b"/, 2, 19],
  ['const handler = () => { await x() }', /^"await" can only be used/, 1, 31],
  ['const handler = 1 /*', /^Expected "\*\/"/, 1, 20],
  ['let handler; let handler', /^"handler" has already been declared/, 1, 18],
  ['', NO_HANDLER, 1, 1],
  ['const main = () => 1 // the handler', NO_HANDLER, 1, 1],
  ['const own = { handler: () => 1 }', NO_HANDLER, 1, 1],
  ['exports.handler = () => 1', NO_HANDLER, 1, 1],
  ['function f() { var handler }', NO_HANDLER, 1, 1],
  ['export const handler = () => 1', MODULE, 1, 1],
  ['export default () => 1', MODULE, 1, 1],
  ["import a from 'a'\nconst handler = () => a", MODULE, 1, 1],
])('%j is told', (code, message, line, column) => {
  expect(flawOfCode(code)).toEqual({ message: expect.stringMatching(message), line, column })
})

test.each([
  'const handler = () => 1',
  'async function handler({ request }) { return request.path }\n//',
  'var { handler } = { handler() {} }',
  'if (true) { var handler = () => 1 }',
  'handler = () => 1',
  'globalThis.handler = () => 1',
  "globalThis['handler'] = () => 1",
  '{ function handler() {} }',
  'with ({}) { } var handler = 010',
  'var await = 1; function handler(a, a) { return "\\01" }',
  '<!-- old\nvar handler = 1',
  'const handler = () => import("x")',
])('%j is left to the sandbox', (code) => {
  expect(flawOfCode(code)).toBeNull()
})

test('code is never run', () => {
  const ran = Object.assign(globalThis, { codeRan: false })
  expect(flawOfCode('globalThis.codeRan = true; const handler = () => 1')).toBeNull()
  expect(ran.codeRan).toBe(false)
})

test.each(['(', '[', '{a:', '(a=', 'async(a=', '!', 'a?', '`${', 'new ', 'a=>', 'if(a)', 'else ', '1+'])(
  'the largest code of nothing but %j is no trouble',
  (piece) => {
    const code = `const handler = ${piece.repeat((256 * 1024) / piece.length)}`
    expect(() => flawOfCode(code)).not.toThrow()
  },
)
