import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '../config/config.ts'

const MANAGERS = ['deb', 'docker', 'npm'] as const

type Manager = (typeof MANAGERS)[number]

const MAX_WORD_BYTES = 64

/**
 * What put this executable here and replaces it: `SVC_MANAGED`, else the word in the file `managed` beside the executable,
 * links resolved; null for nobody. Throws `ConfigError` for another word. contract 19.3, 19.4.
 */
export function managedBy(
  env: Readonly<Record<string, string | undefined>>,
  executable: string,
): Manager | null {
  const said = env['SVC_MANAGED']?.trim()
  if (said) return managerOf(said, 'SVC_MANAGED')
  const path = join(dirname(realpathSync(executable)), 'managed')
  const word = wordIn(path)
  return word === null ? null : managerOf(word, path)
}

function managerOf(word: string, place: string): Manager {
  const manager = MANAGERS.find((one) => one === word)
  if (manager === undefined)
    throw new ConfigError(`${place} is "${word}", but must be one of ${MANAGERS.join(', ')}`)
  return manager
}

function wordIn(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile()) return null
  if (found.size > MAX_WORD_BYTES) throw new ConfigError(`${path} must hold one of ${MANAGERS.join(', ')}`)
  return readFileSync(path, 'utf8').trim()
}
