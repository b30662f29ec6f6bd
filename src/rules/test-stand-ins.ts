import { isRecord } from '../domain/is-record.ts'
import { isHeaderName, isHeaderValue } from '../domain/names.ts'
import { parseWebUrl } from '../domain/web-url.ts'
import type { Check } from './checks.ts'

/** How an address outside answers while a test runs: a provider of models, a feed, another server. */
export type StandIn = { status?: number; headers?: Record<string, unknown>; json?: unknown; body?: string }

const KEYS = ['status', 'headers', 'json', 'body']

/** `{ https://api.example.com/v1/things: { status: 200, json: … } }`, by addresses without a query. */
export const standIns: Check = (value) => {
  if (!isRecord(value)) return 'must be a map of https addresses to answers'
  for (const [address, answer] of Object.entries(value)) {
    const wrong = flawOfAddress(address) ?? flawOfAnswer(answer)
    if (wrong !== null)
      return `must be a map of https addresses to answers, but ${JSON.stringify(address)} ${wrong}`
  }
  return null
}

/** The form in which addresses are compared. */
export const addressOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`

function flawOfAddress(address: string): string | null {
  const url = parseWebUrl(address)
  if (url?.protocol !== 'https:') return 'is no https address'
  return url.search === '' && url.hash === '' ? null : 'has a query, which is not compared'
}

function flawOfAnswer(answer: unknown): string | null {
  if (!isRecord(answer)) return 'is no map'
  const [strange] = Object.keys(answer).filter((key) => !KEYS.includes(key))
  if (strange !== undefined) return `has the key ${strange}; allowed: ${KEYS.join(', ')}`
  const { status = 200, headers = {}, json, body } = answer
  if (!Number.isInteger(status) || Number(status) < 200 || Number(status) > 599)
    return 'has no status such as 200'
  if (!isRecord(headers)) return 'has headers that are no map'
  const names = Object.entries(headers).filter(
    ([name, one]) => !isHeaderName(name) || !isHeaderValue(String(one)),
  )
  if (names.length > 0) return `has the header ${names[0]?.[0]}, which is none`
  if (json !== undefined && body !== undefined) return 'has json and body: use one'
  return body === undefined || typeof body === 'string' ? null : 'has a body that is no text'
}
