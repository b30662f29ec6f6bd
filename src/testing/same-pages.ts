/** Of the header: by which means the file is read, and two counters of changes. A follower has its own. */
const OWN_FIELDS: readonly [from: number, to: number][] = [
  [18, 20],
  [24, 28],
  [92, 96],
]

/** The numbers of the pages in which two database files differ, but for what nobody reads; "size" where they have not as many. */
export function differingPages(one: Buffer, other: Buffer): (number | 'size')[] {
  if (one.length !== other.length) return ['size']
  const pageSize = one.readUInt16BE(16) === 1 ? 65_536 : one.readUInt16BE(16)
  const free = freePages(one, pageSize)
  const differing: number[] = []
  for (let page = 1; page <= one.length / pageSize; page += 1) {
    const [a, b] = [one, other].map((file) =>
      Buffer.from(file.subarray((page - 1) * pageSize, page * pageSize)),
    )
    if (page === 1) for (const [from, to] of OWN_FIELDS) a?.copy(b as Buffer, from, from, to)
    if (!free.has(page) && !a?.equals(b as Buffer)) differing.push(page)
  }
  return differing
}

/** SQLite does not always write what a free page holds. */
function freePages(file: Buffer, pageSize: number): Set<number> {
  const free = new Set<number>()
  for (let trunk = file.readUInt32BE(32); trunk !== 0; ) {
    const at = (trunk - 1) * pageSize
    const count = file.readUInt32BE(at + 4)
    for (let leaf = 0; leaf < count; leaf += 1) free.add(file.readUInt32BE(at + 8 + leaf * 4))
    trunk = file.readUInt32BE(at)
  }
  return free
}
