import { crc32 } from 'node:zlib'
import type { Page } from '@playwright/test'

/** Drops files and folders of this machine on the drop zone, as a hand with a mouse does. */
export async function drop(page: Page, ...paths: string[]): Promise<void> {
  await page.locator('[data-dropzone]').scrollIntoViewIfNeeded()
  const box = await page.locator('[data-dropzone]').boundingBox()
  if (box === null) throw new Error('there is no drop zone')
  const session = await page.context().newCDPSession(page)
  const at = { x: box.x + box.width / 2, y: box.y + 20 }
  const data = { items: [], files: paths, dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...at, data })
  await session.detach()
}

/** A zip of stored files. */
export function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = []
  const records: Buffer[] = []
  for (const [path, content] of Object.entries(files)) {
    const [name, bytes] = [Buffer.from(path), Buffer.from(content)]
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x0800, 2)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(bytes.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(name.length, 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(Buffer.concat(locals).length, 10)
    records.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, rest, name]))
    locals.push(Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, bytes]))
  }
  const directory = Buffer.concat(records)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(records.length, 8)
  end.writeUInt16LE(records.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(Buffer.concat(locals).length, 16)
  return Buffer.concat([...locals, directory, end])
}
