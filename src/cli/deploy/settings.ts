import { resolve } from 'node:path'
import { isCommitSha, isProjectName } from '../../domain/names.ts'
import { type ApiAddress, findApiAddress, sayDestination } from '../api-address.ts'
import type { Connection } from '../api-client.ts'
import { type Io, printable, UsageError } from '../command.ts'
import { findConfigFile } from '../config-file.ts'
import { findLogin } from '../credentials.ts'
import { casOfMarkedFile } from '../extra-cas.ts'
import { type GitFacts, readGit } from '../git.ts'
import { type PreviewFlags, previewFields } from '../preview/fields.ts'
import type { Target } from './upload.ts'

export type DeployFlags = PreviewFlags & {
  'api-url'?: string | undefined
  'api-key'?: string | undefined
  project?: string | undefined
  sha?: string | undefined
  branch?: string | undefined
  message?: string | undefined
  public?: boolean | undefined
  force?: boolean | undefined
}

export type DeploySettings = {
  api: ApiAddress | undefined
  apiKey: string | undefined
  /** Has no commit SHA when neither flag nor git gives one; the hash of the contents is used then. */
  target: Omit<Target, 'commitSha'> & { commitSha?: string }
}

/**
 * The settings of `svc deploy`, each from the first source that has it: flag, environment, `.svc/config.json`, git. An alias
 * is moved only when it is named, so that nothing replaces a live site by a guess. Throws a `UsageError`.
 */
export async function readDeploySettings(
  folder: string,
  flags: DeployFlags,
  io: Io,
): Promise<DeploySettings> {
  const config = findConfigFile([folder, io.cwd])
  const git = await readGit(folder, io.env)
  if (git.refusal !== undefined && (!flags.sha || flags.sha === 'HEAD'))
    throw new UsageError(refusedByGit(folder, git.refusal))
  const project = flags.project ?? config.project ?? git.project
  if (project === undefined)
    throw new UsageError('no project: give --project owner/repo, or "project" in .svc/config.json')
  const facts = commitFacts(flags, git)
  return {
    api: findApiAddress(flags['api-url'], io.env, config),
    apiKey: flags['api-key'] || io.env['SVC_API_KEY'] || undefined,
    target: {
      ...parseProject(project),
      ...facts,
      ...given('alias', flags.alias),
      ...previewFields(flags, facts.branch, io.env),
      ...(flags.public ? { isPublic: true } : {}),
      ...(flags.force ? { force: true } : {}),
    },
  }
}

/** In a container the checkout often belongs to somebody else, and git reads no such one. */
function refusedByGit(folder: string, reason: string): string {
  const lines = reason.split('\n').map((line) => `  ${printable(line.trimEnd())}`)
  const allow = `git config --global --add safe.directory ${folder}`
  return [
    `git does not read the checkout of ${folder}, so the commit is unknown:`,
    ...lines,
    `If the checkout belongs to another user, allow it: ${allow}`,
    'Or name the commit: --sha SHA',
  ].join('\n')
}

/** Address and key, or what `svc login` got there. Throws a `UsageError` that says where they can come from. */
export function requireConnection(
  { api, apiKey }: Pick<DeploySettings, 'api' | 'apiKey'>,
  io: Io,
  wherefrom = 'set SVC_API_KEY or give --api-key',
): Connection {
  if (api === undefined)
    throw new UsageError('no server: give --api-url, SVC_API_URL or "apiUrl" in .svc/config.json')
  const login = apiKey ? undefined : findLogin(api.url, io.env)
  const credential = apiKey || login?.token
  if (!credential) throw new UsageError(`no API key: ${wherefrom}, or run svc login`)
  if (login === undefined) sayDestination(api, io)
  const ca = casOfMarkedFile(io.env['NODE_EXTRA_CA_CERTS'])
  return { apiUrl: api.url, apiKey: credential, env: io.env, ca }
}

/** An unset variable of a script is an empty argument, and must not stand for the folder that the script runs in. */
export function folderOf(argument: string, io: Io): string {
  if (argument === '') throw new UsageError('the name of the folder is empty')
  return resolve(io.cwd, argument)
}

/** `owner/repo`, as the contract's section 4 allows their letters. */
export function parseProject(text: string): { owner: string; repo: string } {
  const [owner = '', repo = '', ...more] = text.split('/')
  if (!isProjectName(owner) || !isProjectName(repo) || more.length > 0)
    throw new UsageError(`"${text}" is no project; it looks like owner/repo`)
  return { owner, repo }
}

/** The message of HEAD describes HEAD only, so it is left out for another `--sha`. */
function commitFacts(
  flags: DeployFlags,
  git: GitFacts,
): { commitSha?: string; branch?: string; description?: string } {
  const sha = flags.sha === 'HEAD' ? requireHead(git) : flags.sha?.toLowerCase()
  if (sha !== undefined && !isCommitSha(sha))
    throw new UsageError(`"${flags.sha}" is no commit SHA; it has 7 to 64 hexadecimal digits, or is HEAD`)
  const isHead = sha === undefined || git.commitSha?.startsWith(sha) === true
  return {
    ...given('commitSha', sha ?? git.commitSha),
    ...given('branch', flags.branch ?? git.branch),
    ...given('description', flags.message ?? (isHead ? git.subject : undefined)),
  }
}

function requireHead({ commitSha }: GitFacts): string {
  if (commitSha === undefined) throw new UsageError('git names no commit here, so there is no HEAD')
  return commitSha
}

function given<K extends string>(name: K, value: string | undefined): { [P in K]?: string } {
  const empty: { [P in K]?: string } = {}
  return value === undefined || value === '' ? empty : { ...empty, [name]: value }
}
