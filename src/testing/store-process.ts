import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_ADMIN } from './full-disk.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from './object-server.ts'
import { runSvc, type ServerProcess, startServer } from './server-process.ts'

/** The real program on an object store on loopback, with a data directory that may be lost. */
export type StoreProcess = {
  store: ObjectServer
  env: Record<string, string>
  dataDir: string
  start(more?: Record<string, string>, dataDir?: string): Promise<ServerProcess>
  /** Runs a command with the settings of the server. */
  svc(args: string[], more?: Record<string, string>): ReturnType<typeof runSvc>
  /** Kills a server, and its machine is gone. */
  lose(server: ServerProcess): Promise<void>
  remove(): Promise<void>
}

export async function storeProcess(more: Record<string, string> = {}): Promise<StoreProcess> {
  const store = startObjectServer()
  const folder = mkdtempSync(join(tmpdir(), 'svc-store-'))
  const dataDir = join(folder, 'data')
  const env = {
    STORE_URL: 's3://bucket/w',
    STORE_ENDPOINT: store.endpoint,
    STORE_ACCESS_KEY: STORE_KEYS.accessKey,
    STORE_SECRET_KEY: STORE_KEYS.secretKey,
    STORE_TIMEOUT_SECONDS: '2',
    SECRET_KEY: Buffer.alloc(32, 3).toString('base64'),
    MACHINE_NAME: 'one',
    ...more,
  }
  const svc = (args: string[], own: Record<string, string> = {}) =>
    runSvc(args, { env: { ...env, DATA_DIR: dataDir, ...own } })
  const made = await svc(['store', 'init'])
  if (made.code !== 0) throw new Error(made.stderr)
  return {
    store,
    env,
    dataDir,
    start: (own = {}, at = dataDir) => startServer(at, { ...env, ...FIRST_ADMIN, ...own }),
    svc,
    async lose(server) {
      server.signal('SIGKILL')
      await server.exited
      rmSync(server.dataDir, { recursive: true, force: true })
    },
    async remove() {
      await store.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A key for all projects. */
export async function newKey({ svc }: StoreProcess): Promise<string> {
  const { code, stdout, stderr } = await svc(['key', 'create', 'test'])
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}
