import { type Config, configFlags, loadConfig } from '../config/config.ts'
import { type Io, parseFlags } from './command.ts'

type Flags = Record<string, { type: 'string' | 'boolean' }>
type Values = Record<string, string | boolean | undefined>

/** Settings of the server as flags: the variable's name in kebab-case. */
export type GivenFlags = {
  /** By key, as `loadConfig` takes them, and by the variable's name. */
  byKey: Record<string, string>
  byName: Record<string, string>
  values: Values
  words: string[]
}

/** Every setting may be a flag, beside the command's own flags and words. */
export function givenFlags(args: string[], own: Flags = {}): GivenFlags {
  const { values, positionals } = parseFlags({
    args,
    options: {
      ...Object.fromEntries(Object.keys(configFlags).map((flag) => [flag, { type: 'string' as const }])),
      ...own,
    },
    allowPositionals: true,
    strict: true,
  })
  const given: GivenFlags = { byKey: {}, byName: {}, values, words: positionals }
  for (const [flag, value] of Object.entries(values)) {
    const key = configFlags[flag]?.key
    if (key === undefined || typeof value !== 'string') continue
    given.byKey[key] = value
    given.byName[flag.toUpperCase().replaceAll('-', '_')] = value
  }
  return given
}

/**
 * The settings of the server from flags and environment, for commands that work on the data directory, with the command's own
 * flags and words beside them. Throws `ConfigError` for a bad setting.
 */
export function settingsOf(
  args: string[],
  io: Io,
  own: Flags = {},
): { config: Config; values: Values; words: string[] } {
  const { byKey, values, words } = givenFlags(args, own)
  return { config: loadConfig({ env: io.env, flags: byKey, isTerminal: io.isTerminal }), values, words }
}
