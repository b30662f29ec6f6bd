import { type ApiAddress, findApiAddress } from '../api-address.ts'
import { ApiFailure, apiClient, type Connection } from '../api-client.ts'
import { type Io, UsageError } from '../command.ts'
import { findConfigFile } from '../config-file.ts'
import { casOfMarkedFile } from '../extra-cas.ts'

/** The server to log in to or out of. */
export function requireApi(flag: string | undefined, io: Io): ApiAddress {
  const api = findApiAddress(flag, io.env, findConfigFile([io.cwd]))
  if (api === undefined)
    throw new UsageError('no server: give --api-url, SVC_API_URL or "apiUrl" in .svc/config.json')
  return api
}

/** With the token of a login, or with none. */
export const connectionOf = (apiUrl: string, token: string | null, io: Io): Connection => ({
  apiUrl,
  apiKey: token,
  env: io.env,
  ca: casOfMarkedFile(io.env['NODE_EXTRA_CA_CERTS']),
})

/** Ends the session of a login. One that has ended already is what was asked for. */
export async function endSession(connection: Connection): Promise<void> {
  try {
    await apiClient(connection).json('POST', '/api/auth/signout', {})
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401 || !error.isOfApi) throw error
  }
}
