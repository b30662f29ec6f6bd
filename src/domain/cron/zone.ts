import { DAY_MS } from '../durations.ts'

/** A time zone. All times are milliseconds; a local time is what its clocks show, as if they showed UTC. */
export type Zone = {
  /** What the clocks are ahead of UTC at that time. */
  offsetAt(time: number): number
}

const MAX_ZONES = 200
const zones = new Map<string, Zone>()

/** Undefined for what is no name of the IANA database. Its formatter is kept: making one costs more than all uses. */
export function findZone(name: string): Zone | undefined {
  const known = zones.get(name)
  if (known !== undefined) return known
  const zone = openZone(name)
  if (zone === undefined) return undefined
  if (zones.size >= MAX_ZONES) zones.clear()
  zones.set(name, zone)
  return zone
}

/** Without the offsets, such as `+02:00`, that Intl knows too. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

function openZone(name: string): Zone | undefined {
  if (!ZONE_NAME.test(name)) return undefined
  if (name === 'UTC') return { offsetAt: () => 0 }
  try {
    return { offsetAt: rememberingLast(offsetsOf(name)) }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function offsetsOf(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return (time) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
      format.format(time).match(/\d+/g) ?? []
    ).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000
  }
}

const MINUTE_BITS = 60_000
const MAX_REMEMBERED = 512

/** Many schedules ask for the same minutes. */
function rememberingLast(offsetAt: (time: number) => number): (time: number) => number {
  const known = new Map<number, number>()
  return (time) => {
    const key = Math.floor(time / MINUTE_BITS)
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= MAX_REMEMBERED) known.clear()
    const offset = offsetAt(time)
    known.set(key, offset)
    return offset
  }
}

/** The first time in (`from`, `to`] at which the offset is another than at `from`, given that it is another at `to`. */
export function changeBetween(zone: Zone, from: number, to: number): number {
  const before = zone.offsetAt(from)
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (zone.offsetAt(middle) === before) low = middle
    else high = middle
  }
  return high
}

/** When a local time comes: first, if it comes twice; null if the clocks skip it, with the first time after the gap. */
export function firstTimeOf(zone: Zone, local: number): { time: number; isSkipped: boolean } {
  // No offset is more than a day.
  const [start, end] = [local - DAY_MS, local + DAY_MS]
  const [before, after] = [zone.offsetAt(start), zone.offsetAt(end)]
  if (zone.offsetAt(local - before) === before) return { time: local - before, isSkipped: false }
  if (zone.offsetAt(local - after) === after) return { time: local - after, isSkipped: false }
  return { time: changeBetween(zone, start, end), isSkipped: true }
}
