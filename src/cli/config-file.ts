import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isRecord } from '../domain/is-record.ts'
import { textOf as decoded, IS_UTF16 } from '../domain/text-file.ts'
import { UsageError } from './command.ts'

/** `.svc/config.json`. contract §5.3. `root` is the folder that holds `.svc`. */
export type ConfigFile = { root: string; apiUrl?: string; project?: string; ruleSets?: string[] }

/**
 * The nearest `.svc/config.json` at or above the first folder that has one. The climb ends at the root of a
 * repository and at the home folder. A shared folder such as /tmp is skipped, because a file that anyone can put
 * there must not decide where the key is sent. Throws a `UsageError` for an invalid file.
 */
export function findConfigFile(folders: readonly string[]): ConfigFile {
  for (const folder of folders) {
    const root = findUpwards(folder, (one) => existsSync(configPath(one)))
    if (root !== undefined) return { root, ...readConfigFile(configPath(root)) }
  }
  return { root: resolve(folders[0] ?? '.') }
}

export const configPath = (root: string): string => join(root, '.svc', 'config.json')

/** The nearest matching folder at or above this one, under the same limits. */
export function findUpwards(folder: string, willDo: (root: string) => boolean): string | undefined {
  for (const root of climb(resolve(folder))) if (!isShared(root) && willDo(root)) return root
  return undefined
}

function* climb(folder: string): Generator<string> {
  let current = folder
  for (;;) {
    yield current
    const parent = dirname(current)
    if (parent === current || current === homedir() || existsSync(join(current, '.git'))) return
    current = parent
  }
}

/** World-writable with the sticky bit: a shared folder. */
function isShared(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & 0o1002) === 0o1002
}

function readConfigFile(path: string): Omit<ConfigFile, 'root'> {
  const config = parseObject(path)
  for (const name of Object.keys(config)) {
    if (/key|token|secret|password/i.test(name))
      throw new UsageError(`${path} holds "${name}": keys stay out of files; set SVC_API_KEY instead`)
    if (!['apiUrl', 'project', 'ruleSets'].includes(name))
      throw new UsageError(`${path}: "${name}" is unknown; apiUrl, project and ruleSets are allowed`)
  }
  const { apiUrl, project, ruleSets } = config
  return {
    ...(apiUrl === undefined ? {} : { apiUrl: textOf(path, 'apiUrl', apiUrl) }),
    ...(project === undefined ? {} : { project: textOf(path, 'project', project) }),
    ...(ruleSets === undefined ? {} : { ruleSets: textsOf(path, 'ruleSets', ruleSets) }),
  }
}

function parseObject(path: string): Record<string, unknown> {
  let text: string | null
  let config: unknown
  try {
    text = decoded(readFileSync(path))
    config = text === null ? null : JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : 'not readable'}`)
  }
  if (text === null) throw new UsageError(`${path} ${IS_UTF16}`)
  if (!isRecord(config)) throw new UsageError(`${path} must hold a JSON object`)
  return config
}

function textOf(path: string, name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new UsageError(`${path}: "${name}" must be text`)
}

function textsOf(path: string, name: string, value: unknown): string[] {
  if (!Array.isArray(value)) throw new UsageError(`${path}: "${name}" must be a list of folders`)
  return value.map((entry) => textOf(path, name, entry))
}
