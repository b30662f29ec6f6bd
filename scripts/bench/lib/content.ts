import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '../../../src/testing/seeded-random.ts'

/** Text that compresses about as well as a real page: words drawn with a seed, so that a run can be repeated. */
export function words(bytes: number, seed: number): string {
  const random = seededRandom(seed)
  const text: string[] = []
  for (let length = 0; length < bytes; ) {
    const word = SYLLABLES.filter(() => random() < 0.2).join('') || 'a'
    text.push(word)
    length += word.length + 1
  }
  return text.join(' ').slice(0, bytes)
}

/** Bytes that do not compress, as of a picture. */
export function noise(bytes: number): Uint8Array {
  const buffer = new Uint8Array(bytes)
  for (let start = 0; start < bytes; start += 65_536)
    crypto.getRandomValues(buffer.subarray(start, start + 65_536))
  return buffer
}

/** `count` text files of `bytes` each, 100 to a folder, none like another and none like those of another seed. */
export function writeTree(folder: string, count: number, bytes: number, seed: number): void {
  const filler = words(bytes, seed)
  for (let file = 0; file < count; file++) {
    const path = join(folder, `part-${Math.floor(file / 100)}`)
    if (file % 100 === 0) mkdirSync(path, { recursive: true })
    const head = `<!doctype html><title>${seed} ${file}</title>`
    const turn = (file * 7) % bytes
    writeFileSync(join(path, `page-${file}.html`), (head + filler.slice(turn) + filler).slice(0, bytes))
  }
}

const SYLLABLES = 'ka lo mi re su ta ven dor el is un or qua bri sta ne'.split(' ')

/** The commit of a number. No two begin alike, as the names of hosts are made of the beginning. */
export const commitOf = (number: number): string =>
  new Bun.CryptoHasher('sha1').update(String(number)).digest('hex')
