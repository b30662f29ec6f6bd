import { shownPath } from '../../rules/set-files.ts'
import type { ApiFailure } from '../api-client.ts'
import { CommandFailure } from '../command.ts'
import type { LoadedSet } from './settings.ts'

/** The server's refusal of a push, told by the files of the set. */
export function refusalOf(set: LoadedSet, failure: ApiFailure): CommandFailure {
  const { details, exitCode, message } = failure
  const lines = details.map((detail) => `  ${inFile(set, detail)}`)
  const what = lines.length === 0 ? message : ['the server refuses the push', ...lines].join('\n')
  return new CommandFailure(`${set.shown}: ${what}`, exitCode, { cause: failure })
}

/** `rules[1].timeout` is in the file of the second rule. Some messages begin with the rule's name instead. */
function inFile({ files, compiled }: LoadedSet, { path, message }: ApiFailure['details'][number]): string {
  const [, list, index, rest = ''] = /^(rules|schemas|schedules)\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  const { rulePaths: rules, schemaPaths: schemas, schedulePaths: schedules } = compiled
  const paths: Partial<Record<string, string[]>> = { rules, schemas, schedules }
  const file = paths[list ?? '']?.[Number(index)]
  if (file === undefined) return path === '' ? message : `${path}: ${message}`
  const isNamed = rest === '' || /^([A-Z]+ [/*]|Schedule )/.test(message)
  return `${shownPath(files, file)}: ${isNamed ? '' : `${rest}: `}${message}`
}
