import { expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { smallerPng } from './png.ts'

/** A picture of 40 by 30 points with alpha, unfiltered. */
function png(): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(40, 0)
  head.writeUInt32BE(30, 4)
  head.set([8, 6, 0, 0, 0], 8)
  const lines = Array.from({ length: 30 }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: 40 }, (_, x) => [x * 6, y * 8, (x * y) % 256, 255]).flat()]),
  )
  const chunks = [
    ['IHDR', head],
    ['IDAT', deflateSync(Buffer.concat(lines), { level: 1 })],
    ['IEND', Buffer.alloc(0)],
  ] as const
  const framed = chunks.map(([type, data]) => {
    const size = Buffer.alloc(4)
    size.writeUInt32BE(data.length)
    return Buffer.concat([size, Buffer.from(type), data, Buffer.alloc(4)])
  })
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), ...framed])
}

test('a picture gets smaller, stays a PNG of its size, and a second time nothing changes', () => {
  const small = smallerPng(png())
  expect(small.length).toBeLessThan(png().length)
  expect([small.readUInt32BE(16), small.readUInt32BE(20), small[25]]).toEqual([40, 30, 2])
  // Read back by the same rules, every point must be the one it was: the lines are chosen anew and come out the same.
  expect(smallerPng(small)).toEqual(small)
})

test('another kind of file is refused', () => {
  const grey = png()
  grey[25] = 0
  expect(() => smallerPng(grey)).toThrow('no PNG')
})
