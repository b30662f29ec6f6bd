import { StoreError } from './error.ts'
import { timeOf } from './object-head.ts'
import { childText, type Element, parseXml } from './xml.ts'

/** `key` is the whole one, below the bucket. */
export type PageEntry = { key: string; sizeBytes: number; modifiedAt: number | null }
export type ListPage = { entries: PageEntry[]; next: string | null }

/** 1,000 keys of 1,024 bytes, each of them in percent form, and what stands around them. */
export const MAX_PAGE_BYTES = 8 * 2 ** 20

/**
 * Reads one page of ListObjectsV2. Throws `damaged` for what would lose keys, show others or lead in a circle: keys come
 * below `prefix` and in order, each after `after`.
 */
export function parseListPage(bytes: Uint8Array, prefix: string, after: string): ListPage {
  const root = parseXml(new TextDecoder().decode(bytes))
  if (root?.name !== 'ListBucketResult') throw noList('it is no ListBucketResult')
  const isCoded = childText(root, 'EncodingType') === 'url'
  const entries = root.children.filter(({ name }) => name === 'Contents').map((one) => entryOf(one, isCoded))
  let last = after
  for (const { key } of entries) {
    if (!key.startsWith(prefix)) throw noList('a key is not below the prefix')
    if (Buffer.compare(Buffer.from(key), Buffer.from(last)) <= 0) throw noList('its keys are not in order')
    last = key
  }
  return { entries, next: nextOf(root, entries) }
}

function nextOf(root: Element, entries: readonly PageEntry[]): string | null {
  const isTruncated = childText(root, 'IsTruncated')
  if (isTruncated === 'false') return null
  const token = childText(root, 'NextContinuationToken') ?? ''
  if (isTruncated !== 'true' || token === '') throw noList('it does not say how it goes on')
  if (entries.length === 0) throw noList('it goes on without a key')
  return token
}

function entryOf(element: Element, isCoded: boolean): PageEntry {
  const key = childText(element, 'Key') ?? ''
  const size = childText(element, 'Size') ?? ''
  if (key === '' || !/^\d{1,15}$/.test(size)) throw noList('an entry has no key or size')
  return {
    key: isCoded ? decoded(key) : key,
    sizeBytes: Number(size),
    modifiedAt: timeOf(childText(element, 'LastModified') ?? null),
  }
}

/** Stores write a space as `+` or `%20`. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch {
    throw noList('a key is not encoded as it says')
  }
}

const noList = (why: string) => new StoreError('damaged', `the object store's list cannot be read: ${why}`)
