import { MAX_DESCRIPTION } from '../domain/description.ts'
import type { Problem } from '../domain/file-problems.ts'
import {
  CATCH_UPS,
  DEFAULT_ZONE,
  findScheduledRule,
  flawsOfTiming,
  isScheduleName,
  refusesSchedules,
  SCHEDULE_NAME_RULE,
  scheduledRule,
} from '../domain/schedule.ts'
import type { YamlFile } from '../domain/yaml-file.ts'
import { type Check, Checker, flag, label, text } from './checks.ts'
import type { CompiledRule, CompiledSchedule } from './push.ts'
import { fileProblem, type SetFiles } from './set-files.ts'

/** Whether the file is a schedule, by its folder and name. */
export const isScheduleFile = (path: string): boolean => /^schedules\/[^/]+\.schedule\.yaml$/.test(path)

export const schedulePath = (name: string): string => `schedules/${name}.schedule.yaml`

const nameOf = (path: string): string => path.slice('schedules/'.length, -'.schedule.yaml'.length)

export type ScheduleSource = { path: string; schedule: CompiledSchedule }

const catchUp: Check = (value) =>
  (CATCH_UPS as readonly unknown[]).includes(value) ? null : `must be ${CATCH_UPS.join(' or ')}`

const KEYS: Readonly<Record<string, Check>> = {
  cron: text(),
  timezone: text(),
  rule: text(4096),
  isEnabled: flag,
  catchUp,
  description: text(MAX_DESCRIPTION),
}

/** What the files of a set say, for the schedules among them. */
type Around = {
  files: SetFiles
  /** Null if some could not be read: then nothing is said about those that are missing. */
  rules: readonly CompiledRule[] | null
  problems: Problem[]
  warnings: Problem[]
}

/** `schedules/<name>.schedule.yaml`. contract 14.6. */
export function compileSchedule(around: Around, path: string, yaml: YamlFile): ScheduleSource[] {
  const { files, problems, warnings } = around
  const name = nameOf(path)
  if (!isScheduleName(name)) {
    problems.push(fileProblem(files, path, `must be called by a name of ${SCHEDULE_NAME_RULE}`))
    return []
  }
  const checker = new Checker(yaml)
  const given = checker.object(yaml.value, [], KEYS)
  if (given !== null && checker.problems.length === 0) checkSchedule(checker, given, around)
  problems.push(...checker.problems)
  warnings.push(...checker.warnings)
  if (given === null || checker.problems.length > 0) return []
  return [{ path, schedule: { name, ...(given as Omit<CompiledSchedule, 'name'>), ...named(given, around) } }]
}

function checkSchedule(checker: Checker, given: Record<string, unknown>, { rules }: Around): void {
  const { cron, rule, timezone = DEFAULT_ZONE } = given
  if (cron === undefined) checker.report([], 'cron is required: five fields, such as 0 6 * * 1-5')
  else
    for (const { path, message } of flawsOfTiming({ cron: String(cron), timezone: String(timezone) }))
      checker.report([path], `${label([path])}${message}`)
  if (rule === undefined) checker.report([], 'rule is required: a rule of the set, such as POST /api/refresh')
  else if (rules !== null) checkRule(checker, rules, String(rule))
}

function checkRule(checker: Checker, rules: readonly CompiledRule[], named: string): void {
  const found = findScheduledRule(rules, named)
  if ('flaw' in found) checker.report(['rule'], `rule ${found.flaw}`)
  else if (refusesSchedules(found.rule.pipelineConfig))
    checker.warn(['rule'], `${named} has auth_required, which refuses a scheduled run: nobody is signed in`)
}

/** The rule as the server names it. */
function named({ rule }: Record<string, unknown>, { rules }: Around): { rule: string } {
  const found = findScheduledRule(rules ?? [], String(rule))
  if ('flaw' in found) return { rule: String(rule) }
  return { rule: scheduledRule({ method: found.method, pathPattern: found.rule.pathPattern }) }
}
