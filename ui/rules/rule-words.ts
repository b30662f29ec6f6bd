import type { RuleView } from '../../src/modules/proxy-rules/service.ts'
import { badge } from '../components/badge.ts'
import { type Html, html } from '../components/html.ts'
import { shortSha } from '../components/sha.ts'
import { time } from '../components/time.ts'
import { projectHref } from '../frame/project-frame.ts'

export const rulesHref = (projectId: string, rest = ''): string => projectHref(projectId, `/rules${rest}`)

export const ruleHref = (projectId: string, ruleId: string, rest = ''): string =>
  rulesHref(projectId, `/${ruleId}${rest}`)

export const setHref = (projectId: string, setId: string): string => rulesHref(projectId, `/sets/${setId}`)

/** The label of `debugEnabled`. */
export const KEEP_STEPS = 'Keep the input and output of each step in the run log'

type Matching = Pick<RuleView, 'pathPattern' | 'method' | 'methods'>

/** The methods that the rule matches; empty for all. */
export const methodsOf = ({ method, methods }: Omit<Matching, 'pathPattern'>): readonly string[] => [
  ...new Set([...(methods ?? []), ...(method === null ? [] : [method])]),
]

export const methodText = (rule: Omit<Matching, 'pathPattern'>): string =>
  methodsOf(rule).join(', ') || 'Any method'

/** A name for people: `POST /api/contact`. */
export const ruleName = (rule: Matching): string =>
  [methodsOf(rule).join(', '), rule.pathPattern].filter((part) => part !== '').join(' ')

export const KIND_WORDS: Readonly<Record<RuleView['proxyType'], string>> = {
  external_proxy: 'Proxy',
  internal_rewrite: 'Rewrite',
  pipeline: 'Pipeline',
  redirect: 'Redirect',
}

/** What the rule does with a matching request, in one line. */
export function deedOf(
  rule: Pick<RuleView, 'proxyType' | 'targetUrl' | 'status' | 'pipelineConfig'>,
): string {
  if (rule.proxyType === 'redirect') return `Redirects to ${rule.targetUrl} (${rule.status})`
  if (rule.proxyType === 'external_proxy') return `Forwards to ${rule.targetUrl}`
  if (rule.proxyType === 'internal_rewrite') return `Serves ${rule.targetUrl} of the same deployment`
  const { name, steps } = rule.pipelineConfig ?? {}
  const count = Array.isArray(steps) ? steps.length : 0
  const size = count === 1 ? '1 step' : `${count} steps`
  return typeof name === 'string' && name !== '' ? `Runs “${name}”: ${size}` : `Runs ${size}`
}

export const disabledBadge = ({ isEnabled }: Pick<RuleView, 'isEnabled'>): Html | false =>
  !isEnabled && badge('Disabled', 'warn')

/** The source of a set or its rules: repository, commit and time. */
export const provenance = (source: NonNullable<RuleView['source']>): Html => html`
  <p class="muted small">
    Managed by ${source.repo === null ? 'the files of its repository' : html`the repository <strong>${source.repo}</strong>`}
    ${source.path !== null && html` in <code>${source.path}</code>`}${source.gitSha !== null && html`, commit ${shortSha(source.gitSha)}`}${
      source.syncedAt !== null && html`, pushed ${time(source.syncedAt)}`
    }.
  </p>
`
