import { expect, test } from 'bun:test'
import { attachmentNamed } from './content-disposition.ts'

test.each([
  ['a b.png', `filename="a b.png"; filename*=UTF-8''a%20b.png`],
  ['ü€.txt', `filename="__.txt"; filename*=UTF-8''%C3%BC%E2%82%AC.txt`],
  ['"x\\y".txt', `filename="_x_y_.txt"; filename*=UTF-8''%22x%5Cy%22.txt`],
  ["it's (1)*.txt", `filename="it's (1)*.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`],
  ['a\r\nset-cookie: x', `filename="a__set-cookie: x"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x`],
  ['\ud800', `filename="_"; filename*=UTF-8''%EF%BF%BD`],
])('%j', (name, written) => {
  const value = attachmentNamed(name)
  expect(value).toBe(`attachment; ${written}`)
  expect(() => new Headers({ 'content-disposition': value })).not.toThrow()
})
