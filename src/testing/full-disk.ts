import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import type { ServerProcess } from './server-process.ts'

/** The first admin of a server that is started with `FIRST_ADMIN`. */
export const ADMIN = { email: 'root@example.com', password: 'correct horse battery' }
export const FIRST_ADMIN = { ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password }

export const signIn = ({ url }: ServerProcess): Promise<Response> =>
  fetch(`${url}/api/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN),
  })

export const cookieOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

/** Calls the API with that cookie. */
export type Call = (method: string, path: string, json?: unknown) => Promise<Response>
export const callsTo =
  ({ url }: ServerProcess, cookie: string): Call =>
  (method, path, json) =>
    fetch(`${url}${path}`, {
      method,
      headers: { cookie, 'content-type': 'application/json' },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })

export const idOf = async (answer: Response): Promise<string> => ((await answer.json()) as { id: string }).id

/** A project with a schema of one field, `note`. */
export async function addSchema(call: Call): Promise<{ projectId: string; records: string }> {
  const projectId = await idOf(await call('POST', '/api/projects', { owner: 'acme', name: 'docs' }))
  const fields = [{ name: 'note', type: 'text' }]
  const schemaId = await idOf(await call('POST', '/api/schemas', { projectId, name: 'notes', fields }))
  return { projectId, records: `/api/schemas/${schemaId}/records` }
}

/** Writes into the folder until nothing more fits on its disk, as another program would. */
export function fillDisk(folder: string): { free(): void } {
  const file = openSync(`${folder}/ballast`, 'w')
  for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 4)) {
    try {
      for (;;) writeSync(file, new Uint8Array(size))
    } catch {
      // Full for this size.
    }
  }
  closeSync(file)
  return { free: () => rmSync(`${folder}/ballast`) }
}
