import { parseApiUrl } from './api-client.ts'
import { type Io, printable } from './command.ts'
import { type ConfigFile, configPath } from './config-file.ts'

/** Where the API is, from the first that says it. `fromFile`: the config file, where it was that. */
export type ApiAddress = { url: string; fromFile?: string }

/** Undefined where nothing says it. Throws a `UsageError` for what is no address. */
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
 * A key of the environment goes where a file of the repository says, and whoever wrote that may have wanted just this. So
 * it is said each time, before anything is sent.
 */
export function sayDestination(address: ApiAddress | undefined, io: Io): void {
  if (address?.fromFile !== undefined)
    io.stderr.write(printable(`the API key goes to ${address.url}, as ${address.fromFile} says`).concat('\n'))
}
