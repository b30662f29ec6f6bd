/** More pages, or longer paths, are not compared by distance. */
const MAX_COMPARED = 5_000
const MAX_LENGTH = 200

/**
 * The page that a missing path most likely meant: the same but for case or extension, else the same last segment, else
 * the least edit distance up to a third of the length. Null if there is none. contract 13 §9.
 */
export function nearestPage(path: string, pages: readonly string[]): string | null {
  const wanted = bare(path)
  const same = pages.find((page) => bare(page) === wanted)
  if (same !== undefined) return same
  const name = lastSegment(wanted)
  const named = name === '' ? [] : pages.filter((page) => lastSegment(bare(page)) === name)
  if (named[0] !== undefined) return closest(wanted, named, MAX_LENGTH) ?? named[0]
  return closest(wanted, pages, Math.floor(path.length / 3))
}

/** In lower case, without the extension, `index` and the slash at the end. */
const bare = (path: string): string =>
  path
    .toLowerCase()
    .replace(/\/$/, '')
    .replace(/\.[a-z0-9]{1,5}$/, '')
    .replace(/\/index$/, '')

const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

function closest(wanted: string, pages: readonly string[], most: number): string | null {
  let found: string | null = null
  let least = most + 1
  for (const page of pages.slice(0, MAX_COMPARED)) {
    const distance = distanceWithin(wanted, bare(page), least - 1)
    if (distance >= least) continue
    least = distance
    found = page
  }
  return found
}

/** The edit distance, or `most` + 1 if it is larger. Looks only at the band in which it could be smaller. */
function distanceWithin(a: string, b: string, most: number): number {
  if (most < 0 || Math.abs(a.length - b.length) > most) return most + 1
  if (a.length > MAX_LENGTH || b.length > MAX_LENGTH) return a === b ? 0 : most + 1
  let before = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const row: number[] = new Array(b.length + 1).fill(most + 1)
    row[0] = i
    let least = i
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      const change = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const cost = Math.min(change, (before[j] ?? most) + 1, (row[j - 1] ?? most) + 1)
      row[j] = cost
      least = Math.min(least, cost)
    }
    if (least > most) return most + 1
    before = row
  }
  return Math.min(before[b.length] ?? most + 1, most + 1)
}
