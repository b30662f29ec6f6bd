import { isHostName, normalizeHost } from './hostname.ts'

/**
 * A host name in any script and spelling as it is stored and compared: A-labels (UTS #46), lower case, no trailing dot.
 * Null for a text that has no such form. A number is an address only as it is written: `1.2.3` is no short `1.2.0.3`.
 */
export function asciiHost(text: string): string | null {
  if (!/^[^\s/@:?#%\\[\]]+$/.test(text) || !URL.canParse(`http://${text}`)) return null
  const host = normalizeHost(new URL(`http://${text}`).hostname)
  if (host === null || !isHostName(host)) return null
  const isNumber = /^\d+$/.test(host.slice(host.lastIndexOf('.') + 1))
  return isNumber && host !== text ? null : host
}
