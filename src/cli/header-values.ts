import { isHeaderValue } from '../domain/names.ts'
import type { CompiledPush, CompiledRule } from '../rules/push.ts'
import { CommandFailure, type Io } from './command.ts'

/** The variable that holds the value of a header here: `x-service-key` is `SVC_HEADER_X_SERVICE_KEY`. */
const variableOf = (name: string): string => `SVC_HEADER_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`

/** For a lab: the push with the values of its secret headers, which no file holds and a server would have stored. */
export function withHeaderValues(push: CompiledPush, env: Io['env']): CompiledPush {
  return { ...push, rules: push.rules.map((rule) => withValues(rule, env)) }
}

function withValues(rule: CompiledRule, env: Io['env']): CompiledRule {
  if (rule.headerConfig?.add === undefined) return rule
  const names = Object.keys(rule.headerConfig.add)
  const add = Object.fromEntries(names.map((name) => [name, valueHere(name, env)]))
  return { ...rule, headerConfig: { ...rule.headerConfig, add } }
}

function valueHere(name: string, env: Io['env']): string {
  const value = env[variableOf(name)] ?? ''
  if (isHeaderValue(value)) return value
  throw new CommandFailure(
    `${variableOf(name)} is no header value: it has a line break or another character that none may have`,
  )
}

/** A sentence for each header that got no value, with the variable to set. */
export function headersWithoutValue(rules: readonly CompiledRule[]): string[] {
  const names = rules.flatMap(({ headerConfig }) =>
    Object.entries(headerConfig?.add ?? {}).flatMap(([name, value]) => (value === '' ? [name] : [])),
  )
  return [...new Set(names)].map(
    (name) => `the header ${name} has no value here; ${variableOf(name)} gives it one`,
  )
}
