import type { SecretBox } from '../../platform/secret-box.ts'
import {
  isKept,
  type OnEmpty,
  openHeaderValues,
  parseStored,
  type StoredHeaderConfig,
} from './header-values.ts'
import type { HeaderConfig } from './model.ts'
import type { RuleRow } from './queries.ts'
import { originOf } from './target.ts'

/**
 * By these a backend tells the sites at its address apart. With another value a request, and the secrets it carries,
 * may be somebody else's.
 */
const NAMES_OF_SITE: ReadonlySet<string> = new Set(['forwarded', 'host', 'x-forwarded-host'])

type Change = {
  after: Pick<RuleRow, 'targetUrl' | 'preserveHost'>
  /** As given; undefined if they stay. */
  headers: HeaderConfig | null | undefined
  onEmpty: OnEmpty
}

/** Whether a change would send the stored header values to another server, or to another site there. contract §4. */
export function isRedirected(
  secrets: SecretBox,
  before: RuleRow,
  { after, headers, onEmpty }: Change,
): boolean {
  if (originOf(before.targetUrl) !== originOf(after.targetUrl)) return true
  if (before.preserveHost !== after.preserveHost) return true
  if (headers === undefined) return false
  const known = siteOf(secrets, before.id, parseStored(before.headerConfig))
  const given = Object.entries(headers?.add ?? {}).flatMap(([name, value]): [string, string][] => {
    const lower = name.toLowerCase()
    return namesSite(name) ? [[lower, isKept(value, onEmpty) ? (known.get(lower) ?? '') : value]] : []
  })
  const wanted = new Map(given)
  return [...known.keys(), ...wanted.keys()].some(
    (name) => (known.get(name) ?? '') !== (wanted.get(name) ?? ''),
  )
}

/** Many backends (CGI) read `x_forwarded_host` as the same name. */
const namesSite = (name: string): boolean =>
  NAMES_OF_SITE.has(name.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-'))

function siteOf(secrets: SecretBox, ruleId: string, stored: StoredHeaderConfig | null): Map<string, string> {
  const add = Object.fromEntries(Object.entries(stored?.add ?? {}).filter(([name]) => namesSite(name)))
  const opened = Object.entries(openHeaderValues(secrets, ruleId, { add }))
  return new Map(opened.map(([name, value]) => [name.toLowerCase(), value]))
}
