/** DNS messages as far as an UPDATE and its answer need them. RFC 1035 §4, RFC 2136 §2. */

export const TYPE = { soa: 6, txt: 16, tsig: 250 } as const
export const CLASS = { in: 1, none: 254, any: 255 } as const

export const u16 = (value: number): Buffer => Buffer.from([(value >> 8) & 0xff, value & 0xff])
export const u32 = (value: number): Buffer => Buffer.concat([u16(value >>> 16), u16(value & 0xffff)])
/** RFC 8945 §4.2: seconds since 1970 in 48 bits. */
export const u48 = (value: number): Buffer =>
  Buffer.concat([u16(Math.floor(value / 2 ** 32)), u32(value % 2 ** 32)])

/** In lower case, without compression. */
export function nameBytes(name: string): Buffer {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.')
  return Buffer.concat([
    ...labels
      .filter((label) => label !== '')
      .flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.from([0]),
  ])
}

export type Resource = { name: Buffer; type: number; class: number; ttl: number; data: Buffer }

export const resourceBytes = ({ name, type, class: kind, ttl, data }: Resource): Buffer =>
  Buffer.concat([name, u16(type), u16(kind), u32(ttl), u16(data.length), data])

/** The texts of 255 bytes and less that a long one is sent in. RFC 1035 §3.3.14. */
export function txtData(text: string): Buffer {
  const bytes = Buffer.from(text)
  const parts: Buffer[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255)
    parts.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat(parts)
}

export type Found = { offset: number; name: string; type: number; data: Buffer }

/** The last of the additional records, with where it begins; null if there is none. Throws if the message is cut off. */
export function lastAdditional(message: Buffer): Found | null {
  const [questions, answers, authorities, additional] = [4, 6, 8, 10].map((at) =>
    message.readUInt16BE(at),
  ) as [number, number, number, number]
  let at = 12
  for (let i = 0; i < questions; i += 1) at = endOfName(message, at) + 4
  let found: Found | null = null
  for (let i = 0; i < answers + authorities + additional; i += 1) {
    const end = endOfName(message, at)
    const length = message.readUInt16BE(end + 8)
    const data = message.subarray(end + 10, end + 10 + length)
    if (data.length !== length) throw new Error('The message is cut off')
    const isAdditional = i >= answers + authorities
    if (isAdditional) found = { offset: at, name: nameAt(message, at), type: message.readUInt16BE(end), data }
    at = end + 10 + length
  }
  return additional === 0 ? null : found
}

export function endOfName(message: Buffer, from: number): number {
  for (let at = from; ; ) {
    const length = message.readUInt8(at)
    if (length >= 0xc0) return at + 2
    if (length === 0) return at + 1
    at += length + 1
  }
}

const MAX_LABELS = 128

/** With the pointers of RFC 1035 §4.1.4, which may lead in a circle. */
export function nameAt(message: Buffer, from: number): string {
  const labels: string[] = []
  let at = from
  for (let steps = 0; steps < MAX_LABELS; steps += 1) {
    const length = message.readUInt8(at)
    if (length === 0) return labels.join('.').toLowerCase()
    if (length >= 0xc0) at = message.readUInt16BE(at) & 0x3fff
    else {
      labels.push(message.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
  }
  throw new Error('A name of the message has no end')
}
