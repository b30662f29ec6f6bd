import { join, resolve } from 'node:path'
import { type Config, ConfigError, loadConfig } from '../../config/config.ts'
import { CommandFailure } from '../command.ts'
import type { GivenFlags } from '../settings.ts'
import { valuesOf, withValues } from './env-file.ts'
import type { Machine } from './machine.ts'
import { ENV_FILE, HOME, isBelow } from './paths.ts'
import { type PlainFile, readPlainFile, replaceFile } from './plain-file.ts'
import type { Step } from './step.ts'

const MODE = 0o600

const COMMENT = `# Settings of svc, NAME=value a line: svc help serve lists them. Read at each start: systemctl restart svc
`

/** What the service will be told, and what writes it down. Throws `ConfigError` as a start would. */
export function settingsOfService(
  machine: Machine,
  { byKey, byName }: GivenFlags,
): { config: Config; step: Step } {
  const found = readEnvFile(machine.root)
  const config = loadConfig({ env: environmentOf(found), flags: byKey })
  const wanted = withValues(found?.bytes ?? Buffer.from(COMMENT), trimmed(byName))
  const path = join(machine.root, ENV_FILE)
  if (wanted === undefined)
    throw new CommandFailure(`${path} ends inside a quoted value: close it; nothing was changed`)
  return {
    config,
    step: {
      what: 'settings',
      path,
      isDone: found?.mode === MODE && found.bytes.equals(wanted),
      act: () => replaceFile(machine.root, ENV_FILE, MODE, wanted),
    },
  }
}

/** The data directory that the service has been told, whatever else its settings are. */
export const dataDirOf = (machine: Machine): string =>
  resolve(HOME, environmentOf(readEnvFile(machine.root))['DATA_DIR']?.trim() || './data')

/** Folders outside of its home that the service writes to. */
export function foldersOf({ dataDir, backupDir }: Config): string[] {
  const backups = backupDir === null || backupDir.store !== null ? [] : [backupDir.text]
  const folders: string[] = []
  for (const path of [dataDir, ...backups].map((one) => resolve(HOME, one))) {
    if (/\p{Cc}/u.test(path))
      throw new ConfigError('BACKUP_DIR and DATA_DIR must be paths without control characters')
    if (![HOME, ...folders].some((folder) => isBelow(folder, path))) folders.push(path)
  }
  return folders
}

function readEnvFile(root: string): PlainFile | undefined {
  const found = readPlainFile(root, ENV_FILE)
  if (found?.bytes.includes(0))
    throw new CommandFailure(`${join(root, ENV_FILE)} holds a zero byte: write it as UTF-8`)
  return found
}

/** As in the unit, which the file comes after. */
const environmentOf = (file: PlainFile | undefined): Record<string, string> => ({
  DATA_DIR: HOME,
  ...(file === undefined ? {} : valuesOf(file.bytes)),
})

const trimmed = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()]))
