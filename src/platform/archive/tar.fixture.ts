/** Tar archives by hand, with any content that a hostile or an old one may have. */

export type Block = {
  name: string
  type?: string
  body?: string
  size?: string
  link?: string
  magic?: string
  prefix?: string
}

/** One entry as bytes, with any content that a hostile archive may have. */
export function entry({
  name,
  type = '0',
  body = '',
  size,
  link = '',
  magic = 'ustar\x0000',
  prefix = '',
}: Block): Buffer {
  const content = Buffer.from(body)
  const block = Buffer.alloc(512)
  block.write(name, 0, 100, 'latin1')
  block.write('0000644\0', 100)
  block.write(size ?? `${content.length.toString(8).padStart(11, '0')}\0`, 124, 12, 'latin1')
  block.write('        ', 148)
  block.write(type, 156)
  block.write(link, 157)
  block.write(magic, 257)
  block.write(prefix, 345)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([block, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

export const END = Buffer.alloc(1024)
export const archive = (...blocks: Block[]) => Buffer.concat([...blocks.map(entry), END])
export const pax = (...records: string[]): Block => ({ name: 'PaxHeader', type: 'x', body: records.join('') })

/** A record of a pax header, with the length that it states of itself. */
export function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  const length = rest + String(rest + String(rest).length).length
  return `${length} ${key}=${value}\n`
}
