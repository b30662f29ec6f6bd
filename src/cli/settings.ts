import { type Config, configFlags, loadConfig } from '../config/config.ts'
import { type Io, parseFlags } from './command.ts'

type Flags = Record<string, { type: 'string' | 'boolean' }>

/**
 * The settings of the server from flags (the variable's name in kebab-case) and environment, for commands that work on
 * the data directory, with the command's own flags and words beside them. Throws `ConfigError` for a bad setting.
 */
export function settingsOf(
  args: string[],
  io: Io,
  own: Flags = {},
): { config: Config; values: Record<string, string | boolean | undefined>; words: string[] } {
  const { values, positionals } = parseFlags({
    args,
    options: {
      ...Object.fromEntries(Object.keys(configFlags).map((flag) => [flag, { type: 'string' as const }])),
      ...own,
    },
    allowPositionals: true,
    strict: true,
  })
  const flags: Record<string, string> = {}
  for (const [flag, value] of Object.entries(values)) {
    const key = configFlags[flag]?.key
    if (key !== undefined && typeof value === 'string') flags[key] = value
  }
  return {
    config: loadConfig({ env: io.env, flags, isTerminal: io.isTerminal }),
    values,
    words: positionals,
  }
}
