const STEPS = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3_600 },
  { unit: 'minute', seconds: 60 },
  { unit: 'second', seconds: 1 },
] as const

/** Formats seconds with the two largest units: `2 days 3 hours`. */
export function formatDuration(seconds: number): string {
  let left = Math.floor(seconds)
  const parts: string[] = []
  for (const step of STEPS) {
    const count = Math.floor(left / step.seconds)
    left -= count * step.seconds
    if (count > 0) parts.push(`${count} ${step.unit}${count === 1 ? '' : 's'}`)
  }
  return parts.slice(0, 2).join(' ') || '0 seconds'
}
