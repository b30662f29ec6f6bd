import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { sizeOf } from './tree.ts'

/** A member is bytes, or the path of a file. */
export type ArMember = { name: string; body: Buffer | string }

/** Writes an archive as `ar` does (deb(5)), owned by root, with one time in seconds of Unix. */
export async function writeAr(file: string, members: readonly ArMember[], modifiedAt: number): Promise<void> {
  await pipeline(Readable.from(pieces(members, modifiedAt), { objectMode: false }), createWriteStream(file))
}

async function* pieces(members: readonly ArMember[], modifiedAt: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('!<arch>\n')
  for (const { name, body } of members) {
    const size = typeof body === 'string' ? sizeOf(body) : body.length
    const fields = [name.padEnd(16), String(modifiedAt).padEnd(12), '0'.padEnd(6), '0'.padEnd(6)]
    yield Buffer.from(`${fields.join('')}${'100644'.padEnd(8)}${String(size).padEnd(10)}\`\n`)
    if (typeof body === 'string') yield* createReadStream(body)
    else yield body
    if (size % 2 === 1) yield Buffer.from('\n')
  }
}
