import { type Config, loadConfig } from '../config/config.ts'

/** What these settings come to, for a server that runs already. */
export function withSettings(env: Record<string, string>, keys: readonly (keyof Config)[]): Partial<Config> {
  const config = loadConfig({ env })
  return Object.fromEntries(keys.map((key) => [key, config[key]]))
}
