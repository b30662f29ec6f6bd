import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { formatProblem, type Problem } from '../../domain/file-problems.ts'
import { isRecord } from '../../domain/is-record.ts'
import { type Compiled, compileSet } from '../../rules/compile.ts'
import type { CompiledPush } from '../../rules/push.ts'
import { openSetFiles, type SetFiles } from '../../rules/set-files.ts'
import { findApiAddress } from '../api-address.ts'
import { type ApiClient, ApiFailure, apiClient } from '../api-client.ts'
import { CommandFailure, type Io, parseFlags, printable, printableJson, UsageError } from '../command.ts'
import { findConfigFile } from '../config-file.ts'
import { folderOf, parseProject, requireConnection } from '../deploy/settings.ts'
import { readGit } from '../git.ts'
import { LAB_OPTIONS, type LabFlags } from '../lab-settings.ts'
import { strangeAnswer } from '../strange-answer.ts'
import { ruleFolders } from './rule-folders.ts'

/** contract §9.1. */
export type RulesFlags = LabFlags & {
  'api-url'?: string | undefined
  project?: string | undefined
  prune: boolean
  'dry-run': boolean
  'strict-schemas': boolean
  'name-suffix'?: string | undefined
  json: boolean
  rule?: string | undefined
  schema?: string | undefined
}

export function readRulesFlags(args: string[]): { words: string[]; flags: RulesFlags } {
  const { values, positionals } = parseFlags({
    args: joinSuffix(args),
    options: {
      'api-url': { type: 'string' },
      project: { type: 'string' },
      prune: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      'strict-schemas': { type: 'boolean', default: false },
      'name-suffix': { type: 'string' },
      json: { type: 'boolean', default: false },
      rule: { type: 'string' },
      schema: { type: 'string' },
      ...LAB_OPTIONS,
    },
    allowPositionals: true,
    strict: true,
  })
  return { words: positionals, flags: values }
}

/** `--name-suffix -pr-12`: a suffix may begin with a dash and would be parsed as a flag. */
function joinSuffix(args: readonly string[]): string[] {
  const at = args.indexOf('--name-suffix')
  const suffix = args[at + 1] ?? ''
  return at !== -1 && /^-[^-]/.test(suffix)
    ? [...args.slice(0, at), `--name-suffix=${suffix}`, ...args.slice(at + 2)]
    : [...args]
}

export type LoadedSet = { folder: string; shown: string; files: SetFiles; compiled: Compiled }

/** The folders given, or those of `.svc/config.json`, each compiled. Throws if there is none, or one is missing. */
export async function loadSets(words: readonly string[], io: Io): Promise<LoadedSet[]> {
  const config = findConfigFile([io.cwd])
  const folders =
    words.length > 0
      ? words.map((word) => folderOf(word, io))
      : (config.ruleSets ?? []).map((one) => resolve(config.root, one))
  if (folders.length === 0)
    throw new UsageError(
      `which rule sets? name their folders${example(io)}, or list them as "ruleSets" in .svc/config.json`,
    )
  return Promise.all(folders.map((folder) => loadSet(folder, io)))
}

const example = (io: Io): string =>
  ruleFolders(io.cwd)
    .slice(0, 1)
    .map((folder) => `, such as ${printable(relative(io.cwd, folder))}`)
    .join('')

export async function loadSet(folder: string, io: Io): Promise<LoadedSet> {
  const shown = relative(io.cwd, folder) || '.'
  const files = openSetFiles(folder, shown)
  if (files === undefined) throw new CommandFailure(`there is no folder ${shown}`)
  return { folder, shown, files, compiled: await compileSet(files) }
}

/** The sets with their pushes. Prints all problems and warnings first, then throws if any file is wrong. */
export function requireValid(
  sets: readonly LoadedSet[],
  flags: RulesFlags,
  io: Io,
  exitCode?: number,
): (LoadedSet & { push: CompiledPush })[] {
  const problems = sets.flatMap(({ compiled }) => compiled.problems)
  writeWarnings(sets, io)
  if (problems.length > 0) {
    writeProblems(problems, flags, io)
    throw new CommandFailure(
      `${counted(problems.length, 'problem')} in the files; nothing was sent`,
      exitCode,
    )
  }
  return sets.flatMap((set) => {
    const { push } = set.compiled
    return push === null ? [] : [{ ...set, push: withFlags(push, flags) }]
  })
}

export function writeProblems(problems: readonly Problem[], flags: RulesFlags, io: Io): void {
  if (flags.json) io.stdout.write(`${printableJson({ valid: false, problems })}\n`)
  else for (const problem of problems) io.stderr.write(`${printable(formatProblem(problem))}\n`)
}

export function writeWarnings(sets: readonly LoadedSet[], io: Io): void {
  for (const warning of sets.flatMap(({ compiled }) => compiled.warnings))
    io.stderr.write(`warning: ${printable(formatProblem(warning))}\n`)
}

/**
 * The server's warnings that were not already given for the files. It says a cause once, with the rules behind it, and
 * leaves out the number of a step where it differs.
 */
export function warningsBeyond({ compiled }: LoadedSet, warnings: readonly string[]): string[] {
  const causeOf = (text: string) => text.replaceAll(/\[\d+\]/g, '[…]')
  const told = new Set(compiled.warnings.map(({ message }) => causeOf(message.replace(/^pipeline\./, ''))))
  return warnings.filter((warning) => !told.has(causeOf(warning.replace(/ \(\d+ rules?: .*\)$/s, ''))))
}

function withFlags(push: CompiledPush, flags: RulesFlags): CompiledPush {
  return {
    ...push,
    ruleSet: { ...push.ruleSet, name: suffixed(push.ruleSet.name, flags['name-suffix'] ?? '') },
    options: { prune: flags.prune, dryRun: flags['dry-run'], strictSchemas: flags['strict-schemas'] },
  }
}

/** `guestbook` and `pr-1`, or `-pr-1`, make `guestbook-pr-1`. contract §9.2. */
const suffixed = (name: string, suffix: string): string =>
  suffix === '' ? name : `${name}-${suffix.replace(/^-/, '')}`

/** The origin of the files, as the admin shows it. */
export async function sourceOf({ folder }: LoadedSet, io: Io): Promise<NonNullable<CompiledPush['source']>> {
  const git = await readGit(folder, io.env)
  const normal = folder.replaceAll('\\', '/')
  const at = normal.lastIndexOf('/.svc/')
  return {
    ...(git.project === undefined ? {} : { repo: git.project }),
    ...(git.commitSha === undefined ? {} : { gitSha: git.commitSha }),
    path: at === -1 ? (normal.split('/').at(-1) ?? '') : normal.slice(at + 1),
  }
}

export type Server = { client: ApiClient; projectId: string; project: string }

/** The server and the project for the sets. The key comes from SVC_API_KEY, else from `svc login`. */
export async function connect(flags: RulesFlags, io: Io): Promise<Server> {
  const config = findConfigFile([io.cwd])
  const api = findApiAddress(flags['api-url'], io.env, config)
  const connection = requireConnection({ api, apiKey: io.env['SVC_API_KEY'] }, io, 'set SVC_API_KEY')
  const project = flags.project ?? config.project ?? (await readGit(io.cwd, io.env)).project
  if (project === undefined)
    throw new UsageError('no project: give --project owner/repo, or "project" in .svc/config.json')
  const client = apiClient(connection)
  return { client, projectId: await projectIdOf(client, project), project }
}

/** Rules are pushed before the pages that call them, so the project may not exist yet: the message says how to create it. */
async function projectIdOf(client: ApiClient, project: string): Promise<string> {
  const { owner, repo } = parseProject(project)
  const path = `/api/projects/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`
  const found = await client.json('GET', path).catch((error: unknown) => {
    if (!(error instanceof ApiFailure) || error.status !== 404 || !error.isOfApi) throw error
    throw new CommandFailure(
      `${project} is no project that this key reaches; make it in the admin, or publish to it first with a key for all projects`,
    )
  })
  if (!isRecord(found) || typeof found['id'] !== 'string') throw strangeAnswer()
  return found['id']
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export const folderOfName = (io: Io, name: string): string => {
  const { root } = findConfigFile([io.cwd])
  const base = existsSync(resolve(root, '.svc')) ? root : io.cwd
  return resolve(base, '.svc', 'proxy-rules', name)
}
