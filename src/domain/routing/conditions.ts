import { cookieNames, OWN_COOKIES } from '../cookies.ts'
import { GLOBAL_ROLES, PROJECT_ROLES } from '../roles.ts'
import { VARIANT_COOKIE } from '../traffic.ts'
import { type Parsed, parsed, refused } from './parsed.ts'

const KEYS = ['Language', 'Cookie', 'Role'] as const
type Key = (typeof KEYS)[number]

/** What must hold besides the path, by key; all keys must. */
export type Conditions = Partial<Record<Key, string[]>>

/** What conditions read of a request, each worked out once. */
export type VisitorFacts = {
  /** The most preferred language, in lower case; null if none is named. */
  language: () => string | null
  cookies: () => ReadonlySet<string>
  /** Whether the visitor may see the site and has one of the roles. */
  hasRole: (roles: readonly string[]) => boolean
}

/** The request headers on which the answer depends. */
export type VariesBy = { language: boolean; cookie: boolean }

const ROLES: readonly string[] = [...GLOBAL_ROLES, ...PROJECT_ROLES]
const OURS: ReadonlySet<string> = new Set([...OWN_COOKIES, VARIANT_COOKIE])
const VALUES: Record<Key, { isValid: RegExp; what: string }> = {
  Language: { isValid: /^[a-z]{1,8}(-[a-z\d]{1,8})*$/i, what: 'a language such as de or de-CH' },
  Cookie: { isValid: /^[!#$%&'*+\-.^_`|~\w]+$/, what: 'the name of a cookie' },
  Role: {
    isValid: new RegExp(`^(?:${ROLES.join('|')})$`),
    what: `a role (${[...new Set(ROLES)].join(', ')})`,
  },
}

/** Adds a condition as it stands in a line. A line with one that is not understood is refused as a whole. */
export function addCondition(conditions: Conditions, text: string): Parsed<Conditions> {
  const cut = text.indexOf('=')
  const key = KEYS.find((known) => known.toLowerCase() === text.slice(0, cut).toLowerCase())
  if (cut < 1) return refused(`${shown(text)} is neither a status nor a condition`)
  if (key === undefined)
    return refused(
      `the condition ${shown(text.slice(0, cut))} is not supported; Language, Cookie and Role are`,
    )
  if (conditions[key] !== undefined) return refused(`the condition ${key} stands twice`)
  const values = text.slice(cut + 1).split(',')
  const { isValid, what } = VALUES[key]
  const bad = values.find((value) => !isValid.test(value))
  if (bad !== undefined) return refused(`${shown(bad)} in ${key} is not ${what}`)
  return parsed({ ...conditions, [key]: values })
}

export const isConditional = (conditions: Conditions): boolean => Object.keys(conditions).length > 0

export const variesBy = ({ Language, Cookie, Role }: Conditions): VariesBy => ({
  language: Language !== undefined,
  cookie: Cookie !== undefined || Role !== undefined,
})

/** The first condition that does not hold; null if all do. */
export function failingCondition({ Language, Cookie, Role }: Conditions, facts: VisitorFacts): Key | null {
  if (Language !== undefined && !isPreferred(Language, facts.language())) return 'Language'
  if (Cookie !== undefined && !Cookie.some((name) => facts.cookies().has(name))) return 'Cookie'
  if (Role !== undefined && !facts.hasRole(Role)) return 'Role'
  return null
}

/** The facts that headers say. A cookie of the service is not one that a line could ask for. */
export function visitorFacts(headers: Pick<Headers, 'get'>, hasRole: VisitorFacts['hasRole']): VisitorFacts {
  let language: string | null | undefined
  let cookies: ReadonlySet<string> | undefined
  return {
    language() {
      if (language === undefined) language = preferredLanguage(headers.get('accept-language') ?? '')
      return language
    },
    cookies() {
      cookies ??= new Set(cookieNames(headers.get('cookie')).filter((name) => !OURS.has(name)))
      return cookies
    },
    hasRole,
  }
}

const MAX_SHOWN = 60
const shown = (text: string): string => `"${text.slice(0, MAX_SHOWN)}"`

/** Whether one of the ranges takes a language. RFC 4647 §3.3.1. */
const isPreferred = (ranges: readonly string[], language: string | null): boolean =>
  language !== null && ranges.some((range) => `${language}-`.startsWith(`${range.toLowerCase()}-`))

/** The language of the highest weight, of several the first. A star names none. */
function preferredLanguage(header: string): string | null {
  let best: { tag: string; weight: number } | null = null
  for (const element of header.toLowerCase().split(',')) {
    const [tag = '', ...parameters] = element.split(';').map((part) => part.trim())
    if (!VALUES.Language.isValid.test(tag)) continue
    const weight = weightOf(parameters)
    if (weight > (best?.weight ?? 0)) best = { tag, weight }
  }
  return best?.tag ?? null
}

/** An unreadable weight counts as 1, as in `Accept`. RFC 9110 §12.4.2. */
function weightOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => /^q\s*=/.test(parameter))
  const weight = given === undefined ? 1 : Number(given.slice(given.indexOf('=') + 1).trim() || '1')
  return weight >= 0 && weight < 1 ? weight : 1
}
