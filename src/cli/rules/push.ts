import {
  compareLabels,
  compareRules,
  compareSchedules,
  compareSchemas,
  type ServerSet,
} from '../../rules/compare.ts'
import type { CompiledPush } from '../../rules/push.ts'
import { ApiFailure } from '../api-client.ts'
import { EXIT, type Io, printable, printableJson } from '../command.ts'
import { retrying } from '../retry.ts'
import { readExport, readSchemas, readSets, readSync, type SyncAnswer } from './answers.ts'
import { refusalOf } from './refusal.ts'
import {
  connect,
  counted,
  type LoadedSet,
  loadSets,
  type RulesFlags,
  requireValid,
  type Server,
  sourceOf,
  warningsBeyond,
} from './settings.ts'

type SyncReport = SyncAnswer & { name: string; path: string }

type ReadySet = LoadedSet & { push: CompiledPush }

/** Plans every set first; applies them only when the server refuses none. */
export async function pushRules(words: string[], flags: RulesFlags, io: Io): Promise<number> {
  const sets = requireValid(await loadSets(words, io), flags, io)
  const server = await connect(flags, io)
  const plans: SyncReport[] = []
  for (const set of sets) plans.push(await send(server, set, io, true))
  const reports: SyncReport[] = []
  if (!flags['dry-run']) for (const set of sets) reports.push(await send(server, set, io, false))
  const shown = flags['dry-run'] ? plans : reports
  if (flags.json) io.stdout.write(`${printableJson({ dryRun: flags['dry-run'], ruleSets: shown })}\n`)
  else for (const [i, set] of sets.entries()) writeReport(set, shown[i], io)
  return EXIT.ok
}

/** 0 when the server matches the files, else 1. contract §9.1. */
export async function diffRules(words: string[], flags: RulesFlags, io: Io): Promise<number> {
  const sets = requireValid(await loadSets(words, io), flags, io, EXIT.usage)
  const server = await connect(flags, io)
  const found: { report: SyncReport; lines: string[]; isDrifted: boolean }[] = []
  for (const set of sets) found.push(await compared(server, set, io))
  const isDrifted = found.some((one) => one.isDrifted)
  if (flags.json)
    io.stdout.write(
      `${printableJson({ drift: isDrifted, ruleSets: found.map(({ report, lines }) => ({ ...report, differences: lines })) })}\n`,
    )
  else
    for (const { report, lines, isDrifted } of found) {
      io.stdout.write(
        `${printable(report.name)}: ${isDrifted ? 'differs' : 'the server has what the files say'}\n`,
      )
      for (const line of lines) io.stdout.write(`  ${printable(line)}\n`)
    }
  return isDrifted ? EXIT.failed : EXIT.ok
}

/**
 * `lines` names everything that a push would change, and what only the server has. The server decides whether rules differ:
 * it may drop a rule or normalise a target, and pushing that again changes nothing.
 */
async function compared(server: Server, set: ReadySet, io: Io) {
  const report = await send(server, set, io, true)
  const there = await exportedSet(server, set.push.ruleSet.name)
  const schemas = set.push.schemas.length === 0 ? [] : await storedSchemas(server)
  const changes = changed(report) + report.pruneCandidates.length
  const rules = changes === 0 ? [] : compareRules(set.push, there)
  const lines = [
    ...compareLabels(set.push, there).map((key) => `~ ${key}`),
    ...rules.map(({ kind, name }) => `${SIGNS[kind]} ${name}`),
    ...report.schemaResolutions.flatMap(({ action, name }) =>
      action === 'create' ? [`+ schema ${name}`] : [],
    ),
    ...compareSchemas(set.push.schemas, schemas).map((name) => `~ schema ${name}`),
    ...compareSchedules(set.push, there).map(({ kind, name }) => `${SIGNS[kind]} schedule ${name}`),
  ]
  return { report, lines, isDrifted: report.setCreated || changes + lines.length > 0 }
}

async function storedSchemas({ client, projectId }: Server): Promise<ServerSet['schemas']> {
  return readSchemas(await client.json('GET', `/api/schemas?projectId=${projectId}`))
}

const changed = ({ created, updated, deleted }: SyncReport): number =>
  created.length + updated.length + deleted.length

const SIGNS = { added: '+', changed: '~', removed: '-' } as const

async function send(server: Server, set: ReadySet, io: Io, dryRun: boolean): Promise<SyncReport> {
  // What the files no longer have can then be pruned.
  const { schedules = [] } = set.push
  const body = {
    ...set.push,
    schedules,
    options: { ...set.push.options, dryRun },
    source: await sourceOf(set, io),
  }
  const path = `/api/proxy-rule-sets/project/${server.projectId}/sync`
  const answer = await retrying({ sleep: io.sleep }, () => server.client.json('PUT', path, body)).catch(
    (error: unknown) => {
      throw error instanceof ApiFailure ? refusalOf(set, error) : error
    },
  )
  return { name: set.push.ruleSet.name, path: set.shown, ...readSync(answer) }
}

/** A set of the project as it is on the server; null if there is none with that name. */
export async function exportedSet({ client, projectId }: Server, name: string): Promise<ServerSet | null> {
  const sets = readSets(await client.json('GET', `/api/proxy-rule-sets/project/${projectId}`))
  const found = sets.find((set) => set.name === name)
  if (found === undefined) return null
  return readExport(await client.json('GET', `/api/proxy-rule-sets/${encodeURIComponent(found.id)}/export`))
}

function writeReport(set: LoadedSet, report: SyncReport | undefined, io: Io): void {
  if (report === undefined) return
  const { name, dryRun, setCreated } = report
  const made = setCreated ? (dryRun ? ' (would be a new set)' : ' (a new set)') : ''
  const counts = (['created', 'updated', 'deleted', 'unchanged'] as const)
    .map((how) => `${report[how].length} ${how}`)
    .join(', ')
  io.stdout.write(`${printable(name)}${made}: ${dryRun ? 'would be ' : ''}${counts}\n`)
  for (const { name: schema, action } of report.schemaResolutions)
    if (action === 'create')
      io.stdout.write(`  schema ${printable(schema)}: ${dryRun ? 'would be ' : ''}created\n`)
  for (const how of ['created', 'updated', 'deleted'] as const)
    for (const schedule of report.schedules[how])
      io.stdout.write(`  schedule ${printable(schedule)}: ${dryRun ? 'would be ' : ''}${how}\n`)
  for (const schedule of report.schedules.pruneCandidates)
    io.stdout.write(`  only on the server: schedule ${printable(schedule)}; --prune deletes it\n`)
  for (const { pathPattern, method } of report.pruneCandidates)
    io.stdout.write(
      `  only on the server: ${printable(`${method ?? 'ANY'} ${pathPattern}`)}; --prune deletes it\n`,
    )
  if (report.missingSecrets.length > 0)
    io.stderr.write(
      `${counted(report.missingSecrets.length, 'header')} without a value: ${printable(report.missingSecrets.join(', '))}; set it in the admin: unlock the rule, then Edit\n`,
    )
  for (const warning of warningsBeyond(set, report.warnings))
    io.stderr.write(`warning: ${printable(warning)}\n`)
}
