import { BEAT_FOLDER } from '../../domain/store-keys.ts'
import type { ObjectStore } from '../../platform/object-store.ts'

export type Beat = { epoch: number; at: number; name: string | null; url: string | null; isDown: boolean }

const MAX_BEAT_BYTES = 64 * 1024

/** What the primary of the newest epoch says of itself. */
export async function newestBeat(store: Pick<ObjectStore, 'get' | 'list'>): Promise<Beat | null> {
  let newest: { epoch: number; at: number } | null = null
  for await (const { key, modifiedAt } of store.list(BEAT_FOLDER)) {
    const [, digits] = /^beat\/([1-9]\d{0,14})$/.exec(key) ?? []
    if (digits !== undefined && Number(digits) > (newest?.epoch ?? 0))
      newest = { epoch: Number(digits), at: modifiedAt ?? 0 }
  }
  if (newest === null) return null
  const found = await store.get(`${BEAT_FOLDER}${newest.epoch}`, MAX_BEAT_BYTES)
  return { ...newest, ...saidBy(found?.bytes) }
}

/** A beat decides nothing: what cannot be read says nothing. */
function saidBy(bytes: Uint8Array | undefined): Pick<Beat, 'name' | 'url' | 'isDown'> {
  const nothing = { name: null, url: null, isDown: false }
  try {
    const said: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof said !== 'object' || said === null) return nothing
    const { name, url, steppedDown } = said as Record<string, unknown>
    return { name: textOf(name), url: urlOf(url), isDown: steppedDown === true }
  } catch {
    return nothing
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 2_048) : null)
const urlOf = (value: unknown): string | null => {
  const text = textOf(value)
  return text !== null && URL.canParse(text) ? text : null
}
