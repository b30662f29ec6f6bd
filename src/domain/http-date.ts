import { DAY_MS } from './durations.ts'

const DAYS: readonly string[] = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const LONG_DAYS: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
]
const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/** Two-digit years from here to 99 mean the 1900s, by the rule of RFC 9110 §5.6.7 as of 2026. */
const FIRST_YEAR_OF_1900S = 77

/** Formats milliseconds since 1970 as `Sun, 06 Nov 1994 08:49:37 GMT`, rounded down to the second. RFC 9110 §5.6.7. */
export function httpDate(ms: number): string {
  const days = Math.floor(ms / DAY_MS)
  const seconds = Math.floor((ms - days * DAY_MS) / 1000)
  const { year, month, day } = civilDate(days)
  const weekday = DAYS[(((days + 4) % 7) + 7) % 7]
  const time = `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`
  const monthName = MONTHS.slice(month * 3 - 3, month * 3)
  return `${weekday}, ${two(day)} ${monthName} ${String(year).padStart(4, '0')} ${time} GMT`
}

/**
 * Parses a date in any of the three formats of RFC 9110 §5.6.7 into milliseconds since 1970; null if it matches none.
 */
export function parseHttpDate(text: string): number | null {
  if (text.charCodeAt(3) === 0x2c) return parseImfFixdate(text)
  return text.endsWith(' GMT') ? parseRfc850(text) : parseAsctime(text)
}

/** `Sun, 06 Nov 1994 08:49:37 GMT`: every part has a fixed position. */
function parseImfFixdate(text: string): number | null {
  if (text.length !== 29 || !isDayName(text) || text.charCodeAt(4) !== 0x20) return null
  if (text.charCodeAt(7) !== 0x20 || text.charCodeAt(11) !== 0x20 || !text.endsWith(' GMT')) return null
  return instant(digits(text, 12, 4), monthAt(text, 8), digits(text, 5, 2), text, 17)
}

/** `Sunday, 06-Nov-94 08:49:37 GMT`. */
function parseRfc850(text: string): number | null {
  const comma = text.indexOf(',')
  if (comma === -1 || !LONG_DAYS.includes(text.slice(0, comma))) return null
  const at = comma + 2
  if (text.length !== at + 22 || text.charCodeAt(comma + 1) !== 0x20) return null
  if (text.charCodeAt(at + 2) !== 0x2d || text.charCodeAt(at + 6) !== 0x2d) return null
  const year = digits(text, at + 7, 2)
  const century = year >= FIRST_YEAR_OF_1900S ? 1900 : 2000
  return instant(year < 0 ? year : century + year, monthAt(text, at + 3), digits(text, at, 2), text, at + 10)
}

/** `Sun Nov  6 08:49:37 1994`: a day below 10 is preceded by a space. */
function parseAsctime(text: string): number | null {
  if (text.length !== 24 || !isDayName(text) || text.charCodeAt(3) !== 0x20) return null
  if (text.charCodeAt(7) !== 0x20 || text.charCodeAt(19) !== 0x20) return null
  const day = text.charCodeAt(8) === 0x20 ? digits(text, 9, 1) : digits(text, 8, 2)
  return instant(digits(text, 20, 4), monthAt(text, 4), day, text, 11)
}

/** Checks the ranges of all parts; ` 08:49:37` is in `text`, with its hour at `timeAt`. */
function instant(year: number, month: number, day: number, text: string, timeAt: number): number | null {
  if (text.charCodeAt(timeAt - 1) !== 0x20) return null
  if (text.charCodeAt(timeAt + 2) !== 0x3a || text.charCodeAt(timeAt + 5) !== 0x3a) return null
  const hour = digits(text, timeAt, 2)
  const minute = digits(text, timeAt + 3, 2)
  const second = digits(text, timeAt + 6, 2)
  if (year < 0 || month < 1 || day < 1 || day > daysInMonth(year, month)) return null
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return null
  const ms = daysSinceEpoch(year, month, day) * DAY_MS
  return ms + (hour * 3600 + minute * 60 + second) * 1000
}

/** The number of `count` digits at `at`, or -1. */
function digits(text: string, at: number, count: number): number {
  let value = 0
  for (let i = at; i < at + count; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (!(digit >= 0 && digit <= 9)) return -1
    value = value * 10 + digit
  }
  return value
}

function isDayName(text: string): boolean {
  return DAYS.includes(text.slice(0, 3))
}

/** 1 to 12, or 0 when there is no month name at `at`. */
function monthAt(text: string, at: number): number {
  const index = MONTHS.indexOf(text.slice(at, at + 3))
  return index % 3 === 0 ? index / 3 + 1 : 0
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

// The two functions below count in eras of 400 years, with years starting in March, so that a leap day ends a year.

function daysSinceEpoch(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

function civilDate(daysFromEpoch: number): { year: number; month: number; day: number } {
  const shifted = daysFromEpoch + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, '0')
}
