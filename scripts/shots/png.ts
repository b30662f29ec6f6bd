import { deflateSync, inflateSync } from 'node:zlib'

type Image = { width: number; height: number; channels: number; pixels: Uint8Array }

const SIGNATURE = 8

/** The same picture in fewer bytes: no alpha, and each line filtered by what leaves the least. 8 bits, RGB or RGBA, not interlaced. */
export function smallerPng(png: Buffer): Buffer {
  const image = read(png)
  const lines = Buffer.concat(filteredLines(withoutAlpha(image)))
  const packed = deflateSync(lines, { level: 9, memLevel: 9 })
  const head = Buffer.alloc(13)
  head.writeUInt32BE(image.width, 0)
  head.writeUInt32BE(image.height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const small = [
    png.subarray(0, SIGNATURE),
    chunk('IHDR', head),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ]
  return Buffer.concat(small)
}

function read(png: Buffer): Image {
  const parts: Buffer[] = []
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const channels = { 2: 3, 6: 4 }[png[25] ?? 0]
  if (channels === undefined || png[24] !== 8 || png[28] !== 0)
    throw new Error('no PNG of a kind that is known here')
  for (let at = SIGNATURE; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const pixels = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, channels)
  return { width, height, channels, pixels }
}

/** `stride`: the bytes of a line; `step`: of a pixel. */
type Raster = { pixels: Uint8Array; stride: number; step: number }

/** Takes back the filter of each line, which its first byte names. */
function unfiltered(data: Uint8Array, stride: number, step: number): Uint8Array {
  const lines = data.length / (stride + 1)
  const pixels = new Uint8Array(lines * stride)
  const raster = { pixels, stride, step }
  for (let line = 0; line < lines; line++) {
    const filter = data[line * (stride + 1)] ?? 0
    for (let x = 0; x < stride; x++) {
      const place = line * stride + x
      pixels[place] = (data[line * (stride + 1) + 1 + x] ?? 0) + predicted(raster, filter, place)
    }
  }
  return pixels
}

function predicted({ pixels, stride, step }: Raster, filter: number, place: number): number {
  const hasLeft = place % stride >= step
  const left = hasLeft ? (pixels[place - step] ?? 0) : 0
  const up = pixels[place - stride] ?? 0
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  return filter === 4 ? paeth(left, up, hasLeft ? (pixels[place - stride - step] ?? 0) : 0) : 0
}

function paeth(left: number, up: number, corner: number): number {
  const [toLeft, toUp, toCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs)
  if (Number(toLeft) <= Number(toUp) && Number(toLeft) <= Number(toCorner)) return left
  return Number(toUp) <= Number(toCorner) ? up : corner
}

function withoutAlpha({ width, height, channels, pixels }: Image): Image {
  if (channels === 3) return { width, height, channels, pixels }
  const rgb = new Uint8Array(width * height * 3)
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3)
    rgb.set(pixels.subarray(from, from + 3), to)
  return { width, height, channels: 3, pixels: rgb }
}

const FILTERS = [0, 1, 2, 4] as const

function filteredLines({ width, height, channels, pixels }: Image): Uint8Array[] {
  const raster = { pixels, stride: width * channels, step: channels }
  return Array.from({ length: height }, (_, line) => {
    const tried = FILTERS.map((filter) => filtered(raster, filter, line))
    return tried.reduce((best, one) => (cost(one) < cost(best) ? one : best))
  })
}

function filtered(raster: Raster, filter: number, line: number): Uint8Array {
  const { pixels, stride } = raster
  const bytes = new Uint8Array(stride + 1)
  bytes[0] = filter
  for (let x = 0; x < stride; x++) {
    const place = line * stride + x
    bytes[x + 1] = (pixels[place] ?? 0) - predicted(raster, filter, place)
  }
  return bytes
}

/** How far the bytes are from nought: what packs best is nearest. */
const cost = (line: Uint8Array): number =>
  line.reduce((sum, byte, place) => (place === 0 ? 0 : sum + Math.min(byte, 256 - byte)), 0)

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(named.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(named, 4)
  framed.writeUInt32BE(Bun.hash.crc32(named), named.length + 4)
  return framed
}
