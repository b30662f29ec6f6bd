import type { RuleView } from '../../src/modules/proxy-rules/service.ts'
import { ruleText } from '../../src/rules/one-rule.ts'
import type { ShownRule } from './rule.ts'
import { methodsOf } from './rule-words.ts'

/** The values of the form's fields, by field name. */
export type RuleValues = Readonly<Record<string, string>>

/** The number of empty rows for new headers. */
export const NEW_HEADERS = 2

/** The stored values without secrets, so that no page can show them. */
export function withoutHeaderValues({ headerConfig, ...rule }: RuleView): ShownRule {
  return {
    ...rule,
    headers: Object.entries(headerConfig?.add ?? {}).map(([name, value]) => ({
      name,
      hasValue: value !== '',
    })),
    forward: headerConfig?.forward ?? null,
    strip: headerConfig?.strip ?? [],
  }
}

/** The values of an empty form. */
export const FRESH_VALUES: RuleValues = {
  proxyType: 'external_proxy',
  stripPrefix: 'true',
  isEnabled: 'true',
  timeout: '30000',
  status: '301',
}

export function valuesOf(rule: ShownRule): RuleValues {
  return {
    pathPattern: rule.pathPattern,
    methods: methodsOf(rule).join(', '),
    proxyType: rule.proxyType,
    targetUrl: rule.targetUrl,
    status: String(rule.status ?? ''),
    stripPrefix: String(rule.stripPrefix),
    order: String(rule.order),
    timeout: String(rule.timeout),
    preserveHost: String(rule.preserveHost),
    forwardCookies: String(rule.forwardCookies),
    limitForward: String(rule.forward !== null),
    forward: rule.forward?.join(', ') ?? '',
    strip: rule.strip.join(', '),
    yaml: rule.proxyType === 'pipeline' ? ruleText({ ...rule, headerConfig: null }) : '',
    isEnabled: String(rule.isEnabled),
    debugEnabled: String(rule.debugEnabled),
    description: rule.description ?? '',
  }
}
