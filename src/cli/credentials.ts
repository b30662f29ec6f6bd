import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { isRecord } from '../domain/is-record.ts'
import { CommandFailure, EXIT, type Io } from './command.ts'
import { systemErrorOf } from './system-error.ts'

/** What `svc login` got from the server at one origin. */
export type Login = { token: string; email: string; createdAt: string }
type Logins = Record<string, Login>

/** `$XDG_CONFIG_HOME/svc/credentials.json`, else below `~/.config`. contract 16 §7. */
export function credentialsPath(env: Io['env']): string {
  const named = env['XDG_CONFIG_HOME']
  // A relative one is to be ignored. XDG Base Directory Specification.
  const base = named && isAbsolute(named) ? named : join(env['HOME'] || homedir(), '.config')
  return join(base, 'svc', 'credentials.json')
}

/** The login for exactly the origin of this address; undefined if there is none. Throws (exit 2) for an unsafe file. */
export function findLogin(apiUrl: string, env: Io['env']): Login | undefined {
  const logins = readLogins(credentialsPath(env))
  const { origin } = new URL(apiUrl)
  return Object.hasOwn(logins, origin) ? logins[origin] : undefined
}

/** Stores the login, or takes the entry out. Returns the path of the file. */
export function storeLogin(apiUrl: string, env: Io['env'], login: Login | undefined): string {
  const path = credentialsPath(env)
  const { [new URL(apiUrl).origin]: _, ...others } = readLogins(path)
  const logins = login === undefined ? others : { ...others, [new URL(apiUrl).origin]: login }
  replace(path, `${JSON.stringify(logins, null, 2)}\n`)
  return path
}

function readLogins(path: string): Logins {
  const text = readSafely(path)
  if (text === undefined) return {}
  const parsed = parse(text)
  if (!isRecord(parsed) || !Object.values(parsed).every(isLogin))
    throw refused(`${path} is not what svc login wrote; remove it and log in again`)
  return parsed as Logins
}

const isLogin = (value: unknown): value is Login =>
  isRecord(value) && ['token', 'email', 'createdAt'].every((name) => typeof value[name] === 'string')

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Undefined when there is no file. What is checked is what is read: a link in its place is not followed. */
function readSafely(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (lstatSync(dirname(path), { throwIfNoEntry: false }) !== undefined) refuseOpenFolder(dirname(path))
  if (found === undefined) return undefined
  if (!found.isFile()) throw refused(`${path} is ${found.isSymbolicLink() ? 'a link' : 'no file'}; remove it`)
  const file = openToRead(path)
  try {
    const { mode, uid } = fstatSync(file)
    if (uid !== ownId(uid)) throw refused(`${path} belongs to another user; remove it`)
    if (hasModes() && (mode & 0o077) !== 0) throw refused(`others may read ${path}: chmod 600 ${path}`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function openToRead(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw refused(`${path} cannot be read: ${systemErrorOf(error)?.message ?? 'it changed meanwhile'}`)
  }
}

/** Whoever may write in the folder could put a file of their own there. */
function refuseOpenFolder(folder: string): void {
  const found = lstatSync(folder)
  const { mode, uid } = found
  if (!found.isDirectory())
    throw refused(`${folder} is ${found.isSymbolicLink() ? 'a link' : 'no folder'}; remove it`)
  if (hasModes() && ((mode & 0o022) !== 0 || uid !== ownId(uid)))
    throw refused(`others may write in ${folder}: chmod 700 ${folder}`)
}

/** By rename, so that a file is whole or not there; new folders and the file are for this user alone. */
function replace(path: string, text: string): void {
  const folder = dirname(path)
  mkdirSync(dirname(folder), { recursive: true })
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) mkdirSync(folder, { mode: 0o700 })
  refuseOpenFolder(folder)
  chmodSync(folder, 0o700)
  const draft = `${path}.${crypto.randomUUID()}`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

const hasModes = (): boolean => process.getuid !== undefined
/** Root may use what it finds: the check is for others' files. `uid` where the system knows no users. */
const ownId = (uid: number): number => process.getuid?.() ?? uid

const refused = (message: string): CommandFailure => new CommandFailure(message, EXIT.usage)
