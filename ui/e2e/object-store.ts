import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** An object store in its own process. */
export type ObjectStore = {
  /** The environment of a server in it. */
  env: Record<string, string>
  stop(): Promise<void>
}

/** The executable that runs it: the Bun of `npm test`, else the one on the path. */
const BUN = process.env['SVC_BUN'] ?? 'bun'
const MAIN = join(import.meta.dirname, '../../src/testing/object-server-main.ts')

export async function startObjectStore(): Promise<ObjectStore> {
  const child = spawn(BUN, [MAIN], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [endpoint] = await once(createInterface(child.stdout), 'line')
  return {
    env: {
      STORE_URL: 's3://bucket/workspace',
      STORE_ENDPOINT: String(endpoint),
      STORE_ACCESS_KEY: 'svckey',
      STORE_SECRET_KEY: 'svcsecret',
    },
    async stop() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
