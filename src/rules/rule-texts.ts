import { readRuleText, ruleText } from './one-rule.ts'
import { RULE_EXAMPLES } from './rule-examples.ts'

/** What the API needs to take and show rules as YAML. */
export const ruleTexts = { read: readRuleText, write: ruleText, examples: RULE_EXAMPLES }
