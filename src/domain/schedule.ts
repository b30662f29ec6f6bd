import { nextRun } from './cron/next-run.ts'
import { parseCron } from './cron/parse.ts'
import { findZone } from './cron/zone.ts'
import { patternKey } from './path-pattern.ts'

export const CATCH_UPS = ['none', 'once'] as const
/** What becomes of a time that passed while nothing could run. */
export type CatchUp = (typeof CATCH_UPS)[number]

export const SCHEDULE_STATUSES = ['ok', 'failed', 'skipped', 'interrupted'] as const
export type ScheduleStatus = (typeof SCHEDULE_STATUSES)[number]

/** Of a project, preview copies aside; and of one set. contract 14.6. */
export const MAX_SCHEDULES = 100
export const DEFAULT_ZONE = 'UTC'

export const SCHEDULE_NAME = '[A-Za-z0-9_-]{1,100}'
export const SCHEDULE_NAME_RULE = '1 to 100 of the characters A-Z, a-z, 0-9, _ and -'
export const isScheduleName = (name: string): boolean => new RegExp(`^${SCHEDULE_NAME}$`).test(name)

/** When something runs. */
export type Timing = { cron: string; timezone: string }

export type TimingFlaw = { path: 'cron' | 'timezone'; message: string }

/** Everything that is wrong with it. */
export function flawsOfTiming({ cron, timezone }: Timing): TimingFlaw[] {
  const parsed = parseCron(cron)
  return [
    ...(parsed.ok ? [] : [{ path: 'cron' as const, message: parsed.message }]),
    ...(findZone(timezone) === undefined
      ? [{ path: 'timezone' as const, message: unknownZone(timezone) }]
      : []),
  ]
}

const unknownZone = (name: string): string =>
  `${JSON.stringify(name.slice(0, 40))} is no time zone; allowed: names of the IANA database, such as UTC or Europe/Berlin`

/** The first time after `after`; null if there is none, or the timing cannot be read by this version. */
export function nextRunAt({ cron, timezone }: Timing, after: number): number | null {
  const parsed = parseCron(cron)
  const zone = findZone(timezone)
  return parsed.ok && zone !== undefined ? nextRun(parsed.cron, zone, after) : null
}

/** The first `count` times after `after`. */
export function nextRunsOf(timing: Timing, after: number, count: number): number[] {
  const runs: number[] = []
  let last: number | null = after
  while (runs.length < count) {
    last = nextRunAt(timing, last)
    if (last === null) break
    runs.push(last)
  }
  return runs
}

/** A rule as a schedule names it. */
type Named = {
  pathPattern: string
  method?: string | null | undefined
  methods?: readonly string[] | null | undefined
}

/** The method that a schedule calls a rule with, unless it names one. */
export const methodOf = ({ method, methods }: Named): string => method ?? methods?.[0] ?? 'POST'

/** `POST /api/refresh`. */
export const scheduledRule = ({ method, pathPattern }: { method: string; pathPattern: string }): string =>
  `${method} ${pathPattern}`

export type FoundRule<T> = { rule: T; method: string } | { flaw: string }

/** The rule that `POST /api/refresh` names. One of exactly that method comes before one that takes several. */
export function findScheduledRule<T extends Named & { proxyType: string }>(
  rules: readonly T[],
  text: string,
): FoundRule<T> {
  const [, word, path] = /^([A-Za-z]{1,20})\s+(\S+)$/.exec(text.trim()) ?? []
  if (word === undefined || path === undefined)
    return { flaw: 'must name a rule by method and path, such as POST /api/refresh' }
  if (path.includes('*')) return { flaw: 'must name a rule without *: a schedule calls one path' }
  const given = word.toUpperCase()
  const ofPath = rules.filter(({ pathPattern }) => isSamePattern(pathPattern, path))
  const rule =
    given === 'ANY'
      ? ofPath.find(({ method }) => (method ?? null) === null)
      : (ofPath.find(({ method }) => method === given) ??
        ofPath.find(
          ({ method, methods }) => (method ?? null) === null && (methods ?? [given]).includes(given),
        ))
  if (rule === undefined) return { flaw: `names ${given} ${path}, which is no rule of the set` }
  const flaw = flawOfRule(rule)
  return flaw === null ? { rule, method: given === 'ANY' ? methodOf(rule) : given } : { flaw }
}

const isSamePattern = (a: string, b: string): boolean => a === b || patternKey(a) === patternKey(b)

/** Why a schedule cannot run it; null if it can. */
export function flawOfRule({
  pathPattern,
  proxyType,
}: {
  pathPattern: string
  proxyType: string
}): string | null {
  if (proxyType !== 'pipeline') return `must be a pipeline, and ${pathPattern} is none`
  if (pathPattern.includes('*'))
    return `must be a rule without *, and ${pathPattern} has one: a schedule calls one path`
  return null
}

type Guarded = { validators?: readonly { type: string }[] | undefined }

/** A scheduled run has nobody who is signed in, so that such a rule refuses it. */
export const refusesSchedules = (pipeline: Guarded | null | undefined): boolean =>
  pipeline?.validators?.some(({ type }) => type === 'auth_required') ?? false
