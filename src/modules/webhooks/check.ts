import { AppError, type ErrorDetail, invalidField } from '../../domain/errors.ts'
import { HOP_BY_HOP } from '../../domain/forward-headers.ts'
import { isHeaderName, isHeaderValue } from '../../domain/names.ts'
import { EVENTS, isEventName } from './events.ts'

const MAX_HEADERS = 20
const MAX_VALUE = 4096
const MAX_NAME = 100

/** The parsed address. Throws `invalid`; where it may lead to is checked elsewhere. */
export function parseHookUrl(text: string): URL {
  if (/[\s\\#]/.test(text) || !URL.canParse(text))
    throw invalidField('url', 'An address such as https://chat.example.com/hooks/1, without spaces and #')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || /^[a-z]+:\/\/[^/?]*@/i.test(text))
    throw invalidField('url', 'The address must not carry a user name: add an Authorization header instead')
  return url
}

/** Throws `invalid` for an event that there is not. */
export function checkEvents(events: readonly string[]): void {
  if (events.length === 1 && events[0] === '*') return
  const unknown = events.find((name) => !isEventName(name))
  if (unknown === '*') throw invalidField('events', '"*" stands alone: it means all of them')
  if (unknown !== undefined)
    throw invalidField('events', `There is no event ${JSON.stringify(unknown)}, only ${EVENTS.join(', ')}`)
}

/** Throws `invalid` with a detail for each header that a hook must not have. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers)
  const names = entries.map(([name]) => name.toLowerCase())
  const details: ErrorDetail[] = entries.flatMap(([name, value], at) => {
    const message = flawOf(name.toLowerCase(), value, names.indexOf(name.toLowerCase()) < at)
    return message === null ? [] : [{ path: `headers.${name}`, message }]
  })
  if (entries.length > MAX_HEADERS)
    details.push({ path: 'headers', message: `At most ${MAX_HEADERS} headers` })
  if (details[0] !== undefined)
    throw new AppError('invalid', `${details[0].path}: ${details[0].message}`, { details })
}

function flawOf(name: string, value: string, isDouble: boolean): string | null {
  if (name.length > MAX_NAME || !isHeaderName(name)) return 'This is not a valid header name'
  if (isDouble) return 'Header names are case-insensitive: use each name once'
  if (HOP_BY_HOP.has(name) || name === 'host' || /^(content-|x-svc-|webhook-)/.test(name))
    return 'A hook sets this header itself, or it belongs to the connection'
  if (value.length > MAX_VALUE || value.trim() === '' || value !== value.trim() || !isHeaderValue(value))
    return `A value has 1 to ${MAX_VALUE} characters up to U+00FF, without line breaks and control characters`
  return null
}
