import { parseApiUrl } from './api-client.ts'
import { type Io, printable } from './command.ts'
import { type ConfigFile, configPath } from './config-file.ts'

/** Address of the API, from the first source that has one. `fromFile`: the config file, when it came from there. */
export type ApiAddress = { url: string; fromFile?: string }

/** Undefined when no source has one. Throws a `UsageError` for an invalid address. */
export function findApiAddress(
  flag: string | undefined,
  env: Io['env'],
  config: ConfigFile,
): ApiAddress | undefined {
  const named = flag || env['SVC_API_URL']
  if (named) return { url: parseApiUrl(named) }
  if (config.apiUrl === undefined) return undefined
  return { url: parseApiUrl(config.apiUrl), fromFile: configPath(config.root) }
}

/**
 * The key from the environment goes to the address in a file of the repository, and the author of that file may be after the
 * key. So the address is printed before anything is sent.
 */
export function sayDestination(address: ApiAddress | undefined, io: Io): void {
  if (address?.fromFile !== undefined)
    io.stderr.write(printable(`the API key goes to ${address.url}, as ${address.fromFile} says`).concat('\n'))
}
