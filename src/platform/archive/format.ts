import { isTar } from './tar-header.ts'

/** The formats that are read. gzip is a tar inside, which only unpacking shows. */
export type ArchiveFormat = 'zip' | 'tar' | 'gzip'

/** What bytes are: a format that is read, the name of one that is not, or undefined. */
export type FoundFormat = { reads: ArchiveFormat } | { named: string } | undefined

/** How many bytes of the beginning `formatOf` needs. */
export const HEAD_BYTES = 512

/** How formats begin that people send and that are not read, in hex. */
const NAMED: readonly [name: string, start: string][] = [
  ['bzip2', '425a683'],
  ['xz', 'fd377a585a00'],
  ['zstd', '28b52ffd'],
  ['7z', '377abcaf271c'],
  ['rar', '526172211a07'],
  ['lzip', '4c5a4950'],
  ['lzma', '5d0000'],
  ['lz4', '04224d18'],
  ['compress (.Z)', '1f9d'],
]
const ZIP = '504b'
const GZIP = '1f8b'

/** Tells a format by its first bytes, whatever the type or the name of the file says. contract 12.9. */
export function formatOf(head: Uint8Array): FoundFormat {
  // A tar first: the name of its first file may begin with anything.
  if (isTar(head)) return { reads: 'tar' }
  const start = Buffer.from(head.subarray(0, 8)).toString('hex')
  if (start.startsWith(ZIP)) return { reads: 'zip' }
  if (start.startsWith(GZIP)) return { reads: 'gzip' }
  const named = NAMED.find(([, bytes]) => start.startsWith(bytes))
  return named === undefined ? undefined : { named: named[0] }
}
