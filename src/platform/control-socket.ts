import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { handOver } from './owner.ts'

/** By which commands on a data directory talk to the server that runs on it. For its user alone. */
const CONTROL_SOCKET = 'control.sock'

/** What a system takes as the address of a socket. */
const MAX_PATH_BYTES = 103

/** Throws where it cannot be opened. Returns a function that closes it. */
export function openControlSocket(
  dataDir: string,
  answer: (request: Request) => Promise<Response>,
): () => Promise<void> {
  const path = join(dataDir, CONTROL_SOCKET)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new Error(`${path} is longer than ${MAX_PATH_BYTES} bytes, which a socket's address may not be`)
  // Of a server that was killed: this one holds the lock of the folder.
  rmSync(path, { force: true })
  const server = Bun.serve({
    unix: path,
    fetch(request, its) {
      // What is asked for may wait for the object store.
      its.timeout(request, 0)
      return answer(request)
    },
  })
  chmodSync(path, 0o600)
  handOver(path)
  return async () => {
    await server.stop(true)
    rmSync(path, { force: true })
  }
}

/** Undefined if no server listens there. Throws if one ends before it has answered. */
export async function askServer(dataDir: string, body: unknown): Promise<Response | undefined> {
  const path = join(dataDir, CONTROL_SOCKET)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return undefined
  try {
    return await fetch('http://localhost/', {
      unix: path,
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOBODY_LISTENS.has(String(error.code))) return undefined
    throw error
  }
}

/** A socket that is not there, or was left by a server that was killed. */
const NOBODY_LISTENS = new Set(['ENOENT', 'ECONNREFUSED'])
