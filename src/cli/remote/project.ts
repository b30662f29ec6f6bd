import { isRecord } from '../../domain/is-record.ts'
import { findApiAddress } from '../api-address.ts'
import { type ApiClient, ApiFailure, apiClient } from '../api-client.ts'
import { CommandFailure, type Io, UsageError } from '../command.ts'
import { type ConfigFile, findConfigFile } from '../config-file.ts'
import { parseProject, requireConnection } from '../deploy/settings.ts'
import { readGit } from '../git.ts'
import { strangeAnswer } from '../strange-answer.ts'

/** Flags of every command that works on a project of a server. contract 16 §7. */
export const REMOTE_OPTIONS = {
  'api-url': { type: 'string' },
  'api-key': { type: 'string' },
  project: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

export type RemoteFlags = {
  'api-url'?: string | undefined
  'api-key'?: string | undefined
  project?: string | undefined
  json: boolean
}

/** The end of the usage of each of them. */
export const REMOTE_HELP = `  --api-url URL         the server; else SVC_API_URL, else "apiUrl" in .svc/config.json
  --api-key KEY         else SVC_API_KEY, which keeps the key out of the list of processes; else what svc login got
  --project OWNER/REPO  else "project" in .svc/config.json, else the git remote origin
  --json                print one JSON object on stdout

Exit code: 0; 1 refused; 2 wrong usage; 3 server not reachable.`

/** One project of a server, as a command reaches it. */
export type Remote = { client: ApiClient; owner: string; repo: string; name: string }

/** Throws a `UsageError` where server, key or project are not known. */
export async function remoteProject(flags: RemoteFlags, io: Io): Promise<Remote> {
  const config = findConfigFile([io.cwd])
  const api = findApiAddress(flags['api-url'], io.env, config)
  const apiKey = flags['api-key'] || io.env['SVC_API_KEY'] || undefined
  const name = await projectName(flags, config, io)
  const { owner, repo } = parseProject(name)
  return { client: apiClient(requireConnection({ api, apiKey }, io)), owner, repo, name }
}

async function projectName(flags: RemoteFlags, config: ConfigFile, io: Io): Promise<string> {
  const name = flags.project ?? config.project ?? (await readGit(io.cwd, io.env)).project
  if (name === undefined)
    throw new UsageError('no project: give --project owner/repo, or "project" in .svc/config.json')
  return name
}

export type Row = Record<string, unknown>

/** The parameters that name the project, and more. */
export const queryOf = ({ owner, repo }: Remote, more: Record<string, string> = {}): string =>
  new URLSearchParams({ owner, repo, ...more }).toString()

const PAGE = 100

/** Rows of a paginated list of the project, from its pages, until there are `limit`. */
export async function listRows(
  remote: Remote,
  path: string,
  more: Record<string, string> = {},
  limit = Number.POSITIVE_INFINITY,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; rows.length < limit; page++) {
    const size = Math.min(PAGE, limit)
    const query = queryOf(remote, { ...more, page: String(page), limit: String(size) })
    const answer = await remote.client.json('GET', `${path}?${query}`)
    if (!isRecord(answer) || !Array.isArray(answer['data'])) throw strangeAnswer()
    const data = answer['data'].filter(isRecord)
    rows.push(...data)
    if (data.length < size) break
  }
  return rows.slice(0, limit)
}

/** A field that every svc answers with. */
export function textAt(row: Row, field: string): string {
  const value = row[field]
  if (typeof value !== 'string') throw strangeAnswer()
  return value
}

/** How a deployment is told of: its number, which is a TARGET too, and its version; an older server has no numbers. */
export const nameAt = (row: Row): string => [numberAt(row), versionAt(row)].filter(Boolean).join(' ')

/** `#12`; empty from an older server. */
export const numberAt = ({ number }: Row): string => (typeof number === 'number' ? `#${number}` : '')

/** A version as a TARGET names it; the SHA alone of an older server. */
export function versionAt(row: Row): string {
  const { version } = row
  const sha = textAt(row, 'commitSha').slice(0, 12)
  return typeof version === 'number' ? `${sha}@${version}` : sha
}

export async function findAlias(remote: Remote, name: string): Promise<Row | undefined> {
  const [found] = await listRows(remote, '/api/aliases', { name }, 1)
  return found
}

export async function requireAlias(remote: Remote, name: string): Promise<Row> {
  const alias = await findAlias(remote, name)
  if (alias === undefined) throw noSuchAlias(remote, name)
  return alias
}

export const noSuchAlias = (remote: Remote, name: string): CommandFailure =>
  new CommandFailure(`${remote.name} has no alias ${name}`)

/** The answer of a request about one thing; undefined where the API says that it does not exist. */
export const unlessMissing = (answer: Promise<unknown>): Promise<unknown> =>
  answer.catch((error: unknown) => {
    if (error instanceof ApiFailure && error.status === 404 && error.isOfApi) return undefined
    throw error
  })
