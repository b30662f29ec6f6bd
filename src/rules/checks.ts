import { didYouMean, type Problem } from '../domain/file-problems.ts'
import { isRecord } from '../domain/is-record.ts'
import type { Place, YamlFile } from '../domain/yaml-file.ts'

export type Path = readonly (string | number)[]
/** Returns what is wrong with a value, or null. */
export type Check = (value: unknown) => string | null

/** Collects the problems of one file. */
export class Checker {
  readonly problems: Problem[] = []
  /** Probably mistakes, but possibly intended. */
  readonly warnings: Problem[] = []
  readonly #yaml: YamlFile

  constructor(yaml: YamlFile) {
    this.#yaml = yaml
  }

  report(path: Path, message: string, place: Place = 'value'): void {
    this.problems.push({ file: this.#yaml.file, ...this.#yaml.at(path, place), message })
  }

  warn(path: Path, message: string, place: Place = 'value'): void {
    this.warnings.push({ file: this.#yaml.file, ...this.#yaml.at(path, place), message })
  }

  /**
   * Checks that the value is an object with only the keys in `known`, and runs each key's check. Returns null for
   * anything but an object. `inConfig` lists the keys that belong one level deeper.
   */
  object(
    value: unknown,
    path: Path,
    known: Readonly<Record<string, Check>>,
    inConfig: readonly string[] = [],
  ): Record<string, unknown> | null {
    if (!isRecord(value)) {
      this.report(path, `${label(path)}must be a map with the keys ${Object.keys(known).join(', ')}`)
      return null
    }
    for (const [key, inner] of Object.entries(value)) {
      const check = Object.hasOwn(known, key) ? known[key] : undefined
      if (check === undefined && inConfig.includes(key))
        this.report([...path, key], `${label([...path, key])}belongs in config`, 'key')
      else if (check === undefined) this.unknownKey([...path, key], Object.keys(known))
      else {
        const message = check(inner)
        if (message !== null) this.report([...path, key], `${label([...path, key])}${message}`)
      }
    }
    return value
  }

  unknownKey(path: Path, known: readonly string[]): void {
    const key = String(path.at(-1))
    this.report(
      path,
      `${label(path)}is not known here; allowed: ${known.join(', ')}.${didYouMean(key, known)}`,
      'key',
    )
  }
}

/** `pipeline.steps[0].id `, or an empty string at the top. */
export const label = (path: Path): string =>
  path.length === 0
    ? ''
    : `${path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('')} `

export const anything: Check = () => null
export const text =
  (max = 2000): Check =>
  (value) =>
    typeof value === 'string' && value.length <= max ? null : `must be a text of at most ${max} characters`
export const flag: Check = (value) => (typeof value === 'boolean' ? null : 'must be true or false')
export const wholeNumber =
  (min: number, max: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? null
      : `must be a whole number from ${min} to ${max}`
