/** When a schedule runs, in the local time of its zone. Bit `n` of a field is set where the value `n` matches. */
export type Cron = {
  minutes: number[]
  hours: number[]
  /** By number, from index 1. */
  months: readonly boolean[]
  daysOfMonth: readonly boolean[]
  /** From Sunday, 0. */
  daysOfWeek: readonly boolean[]
  /** Both are restricted: a day that one of them names is enough. Otherwise both must match. */
  isEitherDay: boolean
  /** The hour field begins with `*`: the runs follow real time when the clocks change. */
  followsRealTime: boolean
}

export const CRON_FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'] as const
export type CronField = (typeof CRON_FIELDS)[number]

/** `field` is null for what concerns the whole expression. */
export type CronFlaw = { field: CronField | null; message: string }
export type ParsedCron = { ok: true; cron: Cron } | ({ ok: false } & CronFlaw)

const MAX_LENGTH = 200

const SHORTHANDS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** `steps`: the largest `/n`. `names`: words for values from `low`. */
type Range = { low: number; high: number; steps: number; names: readonly string[] }

const RANGES: Readonly<Record<CronField, Range>> = {
  minute: { low: 0, high: 59, steps: 60, names: [] },
  hour: { low: 0, high: 23, steps: 24, names: [] },
  'day of month': { low: 1, high: 31, steps: 31, names: [] },
  month: { low: 1, high: 12, steps: 12, names: MONTHS },
  'day of week': { low: 0, high: 7, steps: 7, names: DAYS },
}

const FORM = 'minute, hour, day of month, month and day of week, such as 0 6 * * 1-5'

/** Reads five fields or a shorthand such as `@daily`. contract 14.6. */
export function parseCron(text: string): ParsedCron {
  try {
    return { ok: true, cron: readCron(text) }
  } catch (error) {
    if (error instanceof Flaw) return { ok: false, field: error.field, message: error.message }
    throw error
  }
}

class Flaw extends Error {
  readonly field: CronField | null

  constructor(field: CronField | null, message: string) {
    super(field === null ? message : `${field}: ${message}`)
    this.field = field
  }
}

function readCron(text: string): Cron {
  if (text.length > MAX_LENGTH) throw new Flaw(null, `has more than ${MAX_LENGTH} characters`)
  const fields = (SHORTHANDS[text.trim().toLowerCase()] ?? text).trim().split(/\s+/)
  if (fields[0]?.startsWith('@'))
    throw new Flaw(null, `${text.trim()} is not known; allowed: ${Object.keys(SHORTHANDS).join(', ')}`)
  if (fields.length !== CRON_FIELDS.length)
    throw new Flaw(null, `has ${text.trim() === '' ? 0 : fields.length} fields; give five: ${FORM}`)
  const [minute, hour, dayOfMonth, month, dayOfWeek] = CRON_FIELDS.map((field, i) =>
    readField(field, fields[i] ?? ''),
  ) as [boolean[], boolean[], boolean[], boolean[], boolean[]]
  const isRestricted = (field: string | undefined) => field?.startsWith('*') !== true
  const cron: Cron = {
    minutes: numbersOf(minute),
    hours: numbersOf(hour),
    months: month,
    daysOfMonth: dayOfMonth,
    daysOfWeek: sundayAsZero(dayOfWeek),
    isEitherDay: isRestricted(fields[2]) && isRestricted(fields[4]),
    followsRealTime: !isRestricted(fields[1]),
  }
  if (!cron.isEitherDay && !hasAnyDate(cron))
    throw new Flaw('day of month', `no month that is named has a day ${fields[2]}, so it never comes`)
  return cron
}

const numbersOf = (marks: readonly boolean[]): number[] =>
  marks.flatMap((isMarked, value) => (isMarked ? [value] : []))

const sundayAsZero = (marks: readonly boolean[]): boolean[] =>
  marks.slice(0, 7).map((isMarked, i) => isMarked || (i === 0 && marks[7] === true))

/** In the longest form of each month. */
const LENGTHS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const hasAnyDate = ({ months, daysOfMonth }: Cron): boolean =>
  LENGTHS.some((length, month) => months[month] && daysOfMonth.some((is, day) => is && day <= length))

function readField(field: CronField, text: string): boolean[] {
  const { high } = RANGES[field]
  const marks = Array<boolean>(high + 1).fill(false)
  for (const part of text.split(',')) {
    const [from, to, step] = readPart(field, part)
    for (let value = from; value <= to; value += step) marks[value] = true
  }
  return marks
}

/** `*`, a value or a range, and `/n` behind the first and the last. */
function readPart(field: CronField, part: string): [from: number, to: number, step: number] {
  const { low, high, steps } = RANGES[field]
  const [values = '', step, ...rest] = part.split('/')
  const [first = '', last, ...more] = values.split('-')
  if (part === '' || rest.length > 0 || more.length > 0) throw unreadable(field, part)
  if (step !== undefined && values !== '*' && last === undefined)
    throw new Flaw(field, `${shown(part)} has a step behind a single value; allowed: /n behind * or a range`)
  const by = step === undefined ? 1 : numberOf(step)
  if (by === null || by < 1 || by > steps)
    throw new Flaw(field, `${shown(part)} has no step of 1 to ${steps} behind the /`)
  if (values === '*') return [low, high, by]
  const from = readValue(field, first)
  const to = last === undefined ? from : readValue(field, last)
  if (from > to)
    throw new Flaw(field, `${shown(values)} goes down; a range goes up, and a list names more than one`)
  return [from, to, by]
}

function readValue(field: CronField, text: string): number {
  const { low, high, names } = RANGES[field]
  const named = names.indexOf(text.toLowerCase())
  const value = named === -1 ? numberOf(text) : named + low
  if (value === null || value < low || value > high) throw unreadable(field, text)
  return value
}

const numberOf = (text: string): number | null => (/^\d{1,2}$/.test(text) ? Number(text) : null)

function unreadable(field: CronField, text: string): Flaw {
  const { low, high, names } = RANGES[field]
  const words = names.length === 0 ? '' : ` or ${names[0]} to ${names.at(-1)}`
  return new Flaw(
    field,
    `${text === '' ? 'an empty value' : shown(text)} is not allowed; allowed: ${low} to ${high}${words}, *, lists with commas, ranges such as ${low}-${low + 2}, and /n behind * or a range`,
  )
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 40))
