import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import {
  completed,
  identityOf,
  isSameRule,
  isSameSchedule,
  type ServerSet,
  wholeField,
} from '../../rules/compare.ts'
import { layOutSet } from '../../rules/pull.ts'
import { CommandFailure, EXIT, type Io, printable, printableJson, UsageError } from '../command.ts'
import { exportedSet } from './push.ts'
import { connect, folderOfName, type LoadedSet, loadSet, type RulesFlags, writeProblems } from './settings.ts'
import { writeInside } from './write-inside.ts'

/**
 * Writes sets of the server into `.svc/proxy-rules/NAME`. A file whose rule already matches stays untouched, with its comments
 * and its code; `--prune` deletes rules that only the files have.
 */
export async function pullRules(names: string[], flags: RulesFlags, io: Io): Promise<number> {
  if (names.length === 0) throw new UsageError('which rule sets? name them as they are on the server')
  const server = await connect(flags, io)
  const found = []
  for (const name of names) {
    const set = await exportedSet(server, name)
    if (set === null) throw new CommandFailure(`${server.project} has no rule set ${name}`)
    found.push({ set, folder: folderFor(io, name) })
  }
  const done = []
  for (const { set, folder } of found) done.push(await writeSet(set, folder, flags, io))
  if (flags.json) io.stdout.write(`${printableJson({ dryRun: flags['dry-run'], ruleSets: done })}\n`)
  else for (const one of done) writeDone(one, flags, io)
  return done.some(({ notes }) => notes.length > 0) ? EXIT.failed : EXIT.ok
}

type Done = {
  name: string
  path: string
  written: string[]
  deleted: string[]
  onlyInFiles: string[]
  notes: string[]
}

/** The name of a set may contain characters that a folder name cannot. */
function folderFor(io: Io, name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._ -]+/g, '-').replace(/^\.+/, '')
  return folderOfName(io, safe === '' ? 'rules' : safe)
}

async function writeSet(set: ServerSet, folder: string, flags: RulesFlags, io: Io): Promise<Done> {
  const shown = relative(io.cwd, folder)
  const local = existsSync(folder) ? await loadSet(folder, io) : null
  if (local !== null && local.compiled.push === null) {
    writeProblems(local.compiled.problems, flags, io)
    throw new CommandFailure(`the files in ${shown} are wrong: mend them or move them away first`)
  }
  const { texts, owners, notes } = layOutSet(set, pathsOf(local))
  const kept = keptFiles(set, local)
  const stale = staleFiles(set, local)
  const changed = [...texts].filter(
    ([path, text]) => !kept.has(owners.get(path) ?? path) && currentText(folder, path) !== text,
  )
  if (!flags['dry-run']) writeInside(folder, { texts: changed, stale: flags.prune ? stale : [] })
  return {
    name: set.ruleSet.name,
    path: shown,
    written: changed.map(([path]) => path),
    deleted: flags.prune ? stale : [],
    onlyInFiles: flags.prune ? [] : stale,
    notes,
  }
}

/** The file of each rule and schema that exists already. */
function pathsOf(local: LoadedSet | null): Map<string, string> {
  const { push, rulePaths = [], schemaPaths = [] } = local?.compiled ?? {}
  return new Map([
    ...(push?.rules ?? []).map((rule, i) => [identityOf(rule), rulePaths[i] ?? ''] as const),
    ...(push?.schemas ?? []).map(({ name }, i) => [`schema ${name}`, schemaPaths[i] ?? ''] as const),
  ])
}

/** The files for what the server has. */
function keptFiles(set: ServerSet, local: LoadedSet | null): ReadonlySet<string> {
  const { push, rulePaths = [] } = local?.compiled ?? {}
  const server = new Map(set.rules.map((rule) => [identityOf(rule), rule]))
  const kept = new Set<string>()
  for (const [i, rule] of (push?.rules ?? []).entries()) {
    const there = server.get(identityOf(rule))
    if (there !== undefined && isSameRule(completed(rule, i), there)) kept.add(rulePaths[i] ?? '')
  }
  for (const [i, schema] of (push?.schemas ?? []).entries()) {
    const there = set.schemas.find(({ name }) => name === schema.name)
    const path = local?.compiled.schemaPaths[i] ?? ''
    if (there !== undefined && sameFields(there.fields, schema.fields)) kept.add(path)
  }
  for (const [i, schedule] of (push?.schedules ?? []).entries()) {
    const there = set.schedules?.find(({ name }) => name === schedule.name)
    const path = local?.compiled.schedulePaths[i] ?? ''
    if (there !== undefined && isSameSchedule(schedule, there)) kept.add(path)
  }
  const { name, description, environment } = push?.ruleSet ?? { name: '' }
  const ours = set.ruleSet
  if (
    name === ours.name &&
    (description ?? null) === ours.description &&
    (environment ?? null) === ours.environment
  )
    kept.add('ruleset.yaml')
  return kept
}

function staleFiles(set: ServerSet, local: LoadedSet | null): string[] {
  const rules = new Set(set.rules.map(identityOf))
  const schemas = new Set(set.schemas.map(({ name }) => name))
  const schedules = new Set(set.schedules?.map(({ name }) => name))
  const { push, rulePaths = [], schemaPaths = [], schedulePaths = [] } = local?.compiled ?? {}
  return [
    ...(push?.rules ?? []).flatMap((rule, i) => (rules.has(identityOf(rule)) ? [] : [rulePaths[i] ?? ''])),
    ...(push?.schemas ?? []).flatMap(({ name }, i) => (schemas.has(name) ? [] : [schemaPaths[i] ?? ''])),
    ...(push?.schedules ?? []).flatMap(({ name }, i) =>
      schedules.has(name) ? [] : [schedulePaths[i] ?? ''],
    ),
  ]
}

const sameFields = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  Bun.deepEquals(a.map(wholeField), b.map(wholeField), true)

const currentText = (folder: string, path: string): string | null =>
  existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : null

function writeDone(
  { name, path, written, deleted, onlyInFiles, notes }: Done,
  flags: RulesFlags,
  io: Io,
): void {
  const would = flags['dry-run'] ? 'would be ' : ''
  const what =
    written.length + deleted.length === 0
      ? 'unchanged'
      : `${would}${written.length} written, ${deleted.length} deleted`
  io.stdout.write(`${printable(name)}: ${what} in ${printable(path)}\n`)
  for (const file of written) io.stdout.write(`  ${printable(file)}\n`)
  for (const file of onlyInFiles)
    io.stdout.write(`  only in the files: ${printable(file)}; --prune deletes it\n`)
  for (const note of notes) io.stderr.write(`warning: ${printable(note)}\n`)
}
