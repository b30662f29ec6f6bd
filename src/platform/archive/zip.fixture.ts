import { crc32, deflateRawSync } from 'node:zlib'

/** A zip as programs write it; a list may hold one path twice. */
export function zip(
  files: Readonly<Record<string, string | Uint8Array>> | [string, string | Uint8Array][],
): Uint8Array {
  const locals: Buffer[] = []
  const records: Buffer[] = []
  let at = 0
  for (const [path, content] of Array.isArray(files) ? files : Object.entries(files)) {
    const name = Buffer.from(path)
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x0800, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE((0o100644 << 16) >>> 0, 6)
    rest.writeUInt32LE(at, 10)
    records.push(Buffer.concat([Buffer.from('PK\x01\x02\x1e\x03'), common, rest, name]))
    locals.push(local)
    at += local.length
  }
  const directory = Buffer.concat(records)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(records.length, 4)
  end.writeUInt16LE(records.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end])
}
