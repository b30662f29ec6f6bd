import { isRecord } from './is-record.ts'
import { isAliasName } from './names.ts'

/** One request that a release must pass. contract 13 §8. */
export type Check = {
  name: string | null
  path: string
  status: number
  /** A text of the body. */
  contains: string | null
  /** Of the body, unencoded. */
  maxBytes: number | null
}

/** What is checked before an alias moves. `aliases` null: all of them. */
export type ReleaseChecks = { aliases: string[] | null; startPage: boolean; checks: Check[] }

export const NO_CHECKS: ReleaseChecks = { aliases: null, startPage: false, checks: [] }

export const MAX_CHECKS = 50
export const MAX_CHECKED_ALIASES = 100
export const MAX_CHECK_NAME = 200
export const MAX_CHECK_PATH = 1_000
export const MAX_CONTAINS = 2_000

/** What is wrong, and where: `place` says whether the key itself is, or its value. */
export type CheckFault = { path: (string | number)[]; place: 'key' | 'value'; message: string }

/** Reads what somebody wrote. With faults, which are all told, the checks are of no use. */
export function readReleaseChecks(value: unknown): { checks: ReleaseChecks; faults: CheckFault[] } {
  const reader = new Reader()
  const checks = reader.whole(value)
  return { checks, faults: reader.faults }
}

/** Whether they check anything of this alias. */
export const checksAlias = ({ aliases, startPage, checks }: ReleaseChecks, alias: string): boolean =>
  (startPage || checks.length > 0) &&
  (aliases === null || aliases.some((name) => name.toLowerCase() === alias.toLowerCase()))

type Path = CheckFault['path']

class Reader {
  readonly faults: CheckFault[] = []

  whole(value: unknown): ReleaseChecks {
    // An empty file says nothing, so what it does not say holds.
    const given = value === null || value === undefined ? {} : value
    const keys = this.#keysOf(given, [], ['aliases', 'startPage', 'checks'])
    return {
      aliases: this.#aliases(keys['aliases']),
      startPage: this.#startPage(keys['startPage']),
      checks: this.#checks(keys['checks']),
    }
  }

  #fault(path: Path, message: string, place: CheckFault['place'] = 'value'): void {
    this.faults.push({ path, place, message })
  }

  #keysOf(value: unknown, path: Path, known: readonly string[]): Record<string, unknown> {
    if (!isRecord(value)) {
      this.#fault(path, `must be a mapping with the keys ${known.join(', ')}`)
      return {}
    }
    for (const key of Object.keys(value))
      if (!known.includes(key))
        this.#fault([...path, key], `unknown key; ${known.join(', ')} are allowed`, 'key')
    return value
  }

  #aliases(value: unknown): string[] | null {
    if (value === undefined || value === null) return null
    if (!Array.isArray(value) || value.length === 0 || value.length > MAX_CHECKED_ALIASES) {
      this.#fault(['aliases'], `must be a list of 1 to ${MAX_CHECKED_ALIASES} names, or null for all aliases`)
      return null
    }
    for (const [index, name] of value.entries())
      if (typeof name !== 'string' || !isAliasName(name))
        this.#fault(['aliases', index], 'must be the name of an alias: 1 to 64 of A-Z, a-z, 0-9, - and _')
    return value
  }

  #startPage(value: unknown): boolean {
    if (value === undefined || typeof value === 'boolean') return value ?? true
    this.#fault(['startPage'], 'must be true or false')
    return true
  }

  #checks(value: unknown): Check[] {
    if (value === undefined) return []
    if (!Array.isArray(value) || value.length > MAX_CHECKS) {
      this.#fault(['checks'], `must be a list of at most ${MAX_CHECKS} checks`)
      return []
    }
    return value.map((one, index) => this.#check(one, ['checks', index]))
  }

  #check(value: unknown, at: Path): Check {
    const keys = this.#keysOf(value, at, ['name', 'path', 'status', 'contains', 'maxBytes'])
    const text = (key: string, max: number) => this.#text(keys[key], [...at, key], max)
    if (isRecord(value) && keys['path'] === undefined) this.#fault(at, 'path is missing')
    return {
      name: text('name', MAX_CHECK_NAME),
      path: this.#path(text('path', MAX_CHECK_PATH), [...at, 'path']),
      status: this.#whole(keys['status'], [...at, 'status'], 200, 599) ?? 200,
      contains: text('contains', MAX_CONTAINS),
      maxBytes: this.#whole(keys['maxBytes'], [...at, 'maxBytes'], 0, Number.MAX_SAFE_INTEGER),
    }
  }

  #text(value: unknown, at: Path, max: number): string | null {
    if (value === undefined || value === null) return null
    if (typeof value === 'string' && value !== '' && value.length <= max && isPlain(value)) return value
    this.#fault(at, `must be a text of 1 to ${max} characters`)
    return null
  }

  #path(path: string | null, at: Path): string {
    if (path === null) return '/'
    if (!path.startsWith('/') || /[\s#\\]|\p{Cc}/u.test(path))
      this.#fault(at, 'must be a path that begins with /, percent-encoded, with or without a query')
    return path
  }

  #whole(value: unknown, at: Path, least: number, most: number): number | null {
    if (value === undefined || value === null) return null
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
      return value
    const bound = most === Number.MAX_SAFE_INTEGER ? ` from ${least}` : ` from ${least} to ${most}`
    this.#fault(at, `must be a whole number${bound}`)
    return null
  }
}

const isPlain = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
