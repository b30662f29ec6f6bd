const UNITS = ['KB', 'MB', 'GB', 'TB'] as const
const NO_BREAK = '\u00a0'

/** Formats bytes in decimal units: 999 is `999 B`, 1 500 is `1.5 KB`. */
export function formatSize(sizeBytes: number): string {
  if (sizeBytes < 1000) return `${sizeBytes}${NO_BREAK}B`
  let value = sizeBytes / 1000
  let unit = 0
  while (value >= 999.95 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}${NO_BREAK}${UNITS[unit]}`
}
