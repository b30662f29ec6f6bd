import { isIsoDate, isoTime, parseDateTime } from '../iso-time.ts'
import { parseMailDate } from '../mail-date.ts'

/** A date as feeds write it, in ISO 8601 with milliseconds; undefined for what is none. */
export function feedDate(text: string | undefined): string | undefined {
  if (text === undefined || text.length > 100) return undefined
  const at = isIsoDate(text) || isMonth(text) ? Date.parse(text) : (parseDateTime(text) ?? mailDate(text))
  return at === null || Number.isNaN(at) ? undefined : isoTime(at)
}

/** RFC 822 has years of two digits, and feeds write days and months in full. */
function mailDate(text: string): number | null {
  const found =
    /^(?:[A-Za-z]+\.?,?\s+)?(\d{1,2})[\s-]+([A-Za-z]{3})[A-Za-z]*\.?[\s-]+(\d{2}|\d{4})\s+(.+)$/.exec(text)
  if (found === null) return null
  const [, day, month, year = '', time] = found
  return parseMailDate(`${day} ${month} ${year.length === 2 ? inCentury(year) : year} ${time}`)
}

/** RFC 2822 §4.3. */
const inCentury = (year: string): string => `${Number(year) < 50 ? '20' : '19'}${year}`

/** W3C-DTF has years and months alone. */
const isMonth = (text: string): boolean => /^\d{4}(-(0[1-9]|1[0-2]))?$/.test(text)
