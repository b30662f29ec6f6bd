import { plainPath } from '../plain-path.ts'
import type { RedirectStatus } from '../redirect-status.ts'
import type { Parsed } from './parsed.ts'
import { type Asked, type RedirectLine, resultOf } from './redirects.ts'
import { namesOf, parseSource } from './source.ts'
import { parseTarget, type Result } from './target.ts'

/** A redirect rule as a 3xx line of `_redirects`. contract 13 §6. */
export type RedirectRule = Pick<RedirectLine, 'source' | 'query' | 'target' | 'status'>

type Written = { pathPattern: string; targetUrl: string; status: RedirectStatus | null }

export const DEFAULT_REDIRECT_STATUS: RedirectStatus = 301

/** Reads a rule that was validated when it was saved, possibly by another version: null if it says nothing now. */
export function readRedirectRule({ pathPattern, targetUrl, status }: Written): RedirectRule | null {
  const source = parseSource(pathPattern)
  if (!source.ok) return null
  const target = parseTarget(targetUrl, namesOf(source.value))
  if (!target.ok) return null
  return {
    source: source.value,
    query: {},
    target: target.value,
    status: status ?? DEFAULT_REDIRECT_STATUS,
  }
}

/** Where the rule leads a request; null if it does not take it. */
export const leadFrom = (rule: RedirectRule, asked: Asked): Result | null =>
  resultOf(rule, asked)?.result ?? null

const MAX_SOURCE = 1024

/** Why a path is no source of a rule: null if it is one. */
export function findSourceError(pathPattern: string): string | null {
  if (!pathPattern.startsWith('/')) return 'The path of a redirect must begin with /'
  if (pathPattern.length > MAX_SOURCE) return `The path must not be longer than ${MAX_SOURCE} characters`
  return errorOf(parseSource(pathPattern))
}

/** Why a redirect cannot lead to a target: null if it can. */
export function findTargetError(targetUrl: string): string | null {
  return targetUrl === ''
    ? 'Give the path or address that the redirect leads to'
    : errorOf(parseTarget(targetUrl, []))
}

/** In a sentence, where a rule leads an address (a path, perhaps with a query) of a site. */
export function previewRedirect(written: Written, address: string): string {
  const error = findSourceError(written.pathPattern) ?? findTargetError(written.targetUrl)
  if (error !== null) return error
  if (!address.startsWith('/')) return 'Type an address of the site, such as /old/page'
  const rule = readRedirectRule(written)
  const [path = '', ...query] = address.split('?')
  const search = query.length === 0 ? '' : `?${query.join('?')}`
  const asked = { host: null, hostHeader: '', path, plain: plainPath(path), search }
  const result = rule === null ? null : leadFrom(rule, asked)
  return rule === null || result === null
    ? `${address} is not redirected by it`
    : `${address} leads to ${result.href} (${rule.status})`
}

const errorOf = (found: Parsed<unknown>): string | null =>
  found.ok ? null : found.error.charAt(0).toUpperCase() + found.error.slice(1)
