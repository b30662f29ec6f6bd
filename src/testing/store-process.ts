import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIRST_ADMIN } from './full-disk.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from './object-server.ts'
import { runSvc, type ServerProcess, startServer } from './server-process.ts'

/** The real program on an object store, with a data directory that may be lost. */
export type OnStore = {
  env: Record<string, string>
  dataDir: string
  start(more?: Record<string, string>, dataDir?: string): Promise<ServerProcess>
  /** Runs a command with the settings of the server. */
  svc(args: string[], more?: Record<string, string>): ReturnType<typeof runSvc>
  /** Kills a server, and its machine is gone. */
  lose(server: ServerProcess): Promise<void>
  remove(): Promise<void>
}

/** On one on loopback, which fails as it is told. */
export type StoreProcess = OnStore & { store: ObjectServer }

export async function storeProcess(more: Record<string, string> = {}): Promise<StoreProcess> {
  const store = startObjectServer()
  const on = onStore({ STORE_URL: 's3://bucket/w', STORE_ENDPOINT: store.endpoint, ...more })
  const made = await on.svc(['store', 'init'])
  if (made.code !== 0) throw new Error(made.stderr)
  const remove = () => Promise.all([on.remove(), store.stop()]).then(() => {})
  return { ...on, store, remove }
}

/** `more` names the store, which is not initialised yet. */
export function onStore(more: Record<string, string>): OnStore {
  const folder = mkdtempSync(join(tmpdir(), 'svc-store-'))
  const dataDir = join(folder, 'data')
  const env = {
    STORE_ACCESS_KEY: STORE_KEYS.accessKey,
    STORE_SECRET_KEY: STORE_KEYS.secretKey,
    STORE_TIMEOUT_SECONDS: '2',
    SECRET_KEY: Buffer.alloc(32, 3).toString('base64'),
    MACHINE_NAME: 'one',
    // A start need not wait for the silence of a primary that was killed.
    ROLE: 'primary',
    ...more,
  }
  return {
    env,
    dataDir,
    start: (own = {}, at = dataDir) => startServer(at, { ...env, ...FIRST_ADMIN, ...own }),
    svc: (args, own = {}) => runSvc(args, { env: { ...env, DATA_DIR: dataDir, ...own } }),
    async lose(server) {
      server.signal('SIGKILL')
      await server.exited
      rmSync(server.dataDir, { recursive: true, force: true })
    },
    async remove() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A key for all projects. */
export async function newKey({ svc }: Pick<OnStore, 'svc'>): Promise<string> {
  const { code, stdout, stderr } = await svc(['key', 'create', 'test'])
  if (code !== 0) throw new Error(stderr)
  return stdout.trim()
}
