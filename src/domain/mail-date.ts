import { isIsoDate } from './iso-time.ts'

const DAYS = 'Sun|Mon|Tue|Wed|Thu|Fri|Sat'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const MAIL_DATE = new RegExp(
  `^(?:(${DAYS}), ?)?(\\d{1,2}) (${MONTHS.join('|')}) (\\d{4}) (\\d{2}):(\\d{2})(?::(\\d{2}))? ([+-]\\d{4}|[A-Z]{1,3})$`,
  'i',
)

/** The zones with a name, in hours. RFC 2822 §4.3. */
const ZONES: Readonly<Record<string, number | undefined>> = {
  UT: 0,
  GMT: 0,
  Z: 0,
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
}

/** `Tue, 1 Jul 2003 10:52:37 +0200` in milliseconds; null if it is no such date. RFC 2822 §3.3. */
export function parseMailDate(text: string): number | null {
  const found = MAIL_DATE.exec(text.replace(/\s+/g, ' '))
  if (found === null) return null
  const [, , day = '', month = '', year = '', hour = '', minute = '', second = '00', zone = ''] = found
  const number = MONTHS.findIndex((name) => name.toLowerCase() === month.toLowerCase()) + 1
  const date = `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`
  const offset = offsetOf(zone.toUpperCase())
  const at = Date.parse(`${date}T${hour}:${minute}:${second}Z`)
  return offset === null || !isIsoDate(date) || Number.isNaN(at) ? null : at - offset
}

const MINUTE_MS = 60_000

function offsetOf(zone: string): number | null {
  const [, sign, hours, minutes] = /^([+-])(\d{2})(\d{2})$/.exec(zone) ?? []
  if (sign === undefined) {
    const named = ZONES[zone]
    return named === undefined ? null : named * 60 * MINUTE_MS
  }
  const size = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS
  return Number(minutes) > 59 ? null : sign === '-' ? -size : size
}
