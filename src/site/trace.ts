import type { SiteRule } from './site-rules.ts'

/** One decision on the way to a response. `text` is a sentence for a person. */
export type TraceStep = {
  step:
    | 'host'
    | 'path'
    | 'project'
    | 'traffic'
    | 'redirect'
    | 'headers'
    | 'rule'
    | 'api'
    | 'visibility'
    | 'gate'
    | 'forward'
    | 'pipeline'
    | 'accept'
    | 'file'
    | 'answer'
    | 'cdn'
  text: string
  detail?: Record<string, unknown>
}

/**
 * Records what the serving code decides, and makes it stop before it calls a backend or runs a pipeline: explaining a
 * request must not send it.
 */
export type Trace = {
  steps: TraceStep[]
  add(step: TraceStep['step'], text: string, detail?: Record<string, unknown>): void
  /** `miss` null means that this rule takes the request. */
  rule(rule: SiteRule, miss: 'disabled' | 'path' | 'method' | null): void
}

export function createTrace(): Trace {
  const steps: TraceStep[] = []
  const add: Trace['add'] = (step, text, detail) =>
    void steps.push(detail === undefined ? { step, text } : { step, text, detail })
  return {
    steps,
    add,
    rule({ record, level, methods, redirect }, miss) {
      const { id, pathPattern, proxyType, ruleSetId, order, targetUrl } = record
      const name = `${methods === null ? 'any method' : [...methods].join(', ')} ${pathPattern}`
      add('rule', `${name} (${level}): ${OUTCOME[miss ?? 'match']}`, {
        id,
        level,
        ruleSetId,
        pathPattern,
        methods: methods === null ? null : [...methods],
        proxyType,
        ...(redirect === null ? {} : { targetUrl, status: redirect.status }),
        order,
        matched: miss === null,
        reason: miss ?? 'match',
      })
    },
  }
}

const OUTCOME = {
  match: 'it matches and takes the request',
  disabled: 'it is disabled and skipped',
  path: 'the path does not match',
  method: 'it is for another method',
} as const
