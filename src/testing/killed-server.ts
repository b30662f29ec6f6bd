import { Database } from 'bun:sqlite'
import { afterAll, expect } from 'bun:test'
import { join } from 'node:path'
import { archive, type Content, tar } from '../modules/deployments/upload/upload.fixture.ts'
import { FIRST_ADMIN } from './full-disk.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from './server-process.ts'

/** The real program on one data directory, which the tests of a file kill and start again. */
export type KilledServer = {
  dataDir: string
  /** The one that runs; starts it if none does. */
  running(): Promise<ServerProcess>
  /** By SIGKILL. */
  kill(): Promise<void>
  /** Kills it, and starts it again. */
  again(): Promise<ServerProcess>
  /** An API key for all projects; the server must have run. */
  key(): Promise<string>
  /** Publishes files as a tar. Returns the status. */
  publish(fields: Record<string, string>, files: Readonly<Record<string, Content>>): Promise<number>
  /** Looks at the database, or changes it while the server is killed. */
  db<T>(work: (sqlite: Database) => T): T
  /** Kills it, and expects that nothing is damaged. */
  expectWhole(): Promise<void>
}

export function killedServer(): KilledServer {
  const data = makeDataDir()
  let server: ServerProcess | undefined
  let key: Promise<string> | undefined
  const one: KilledServer = {
    dataDir: data.path,
    async running() {
      server ??= await startServer(data.path, FIRST_ADMIN)
      return server
    },
    async kill() {
      server?.signal('SIGKILL')
      await server?.exited
      server = undefined
    },
    async again() {
      await one.kill()
      return one.running()
    },
    key() {
      key ??= runSvc(['key', 'create', 'test', '--data-dir', data.path]).then(({ stdout }) => stdout.trim())
      return key
    },
    async publish(fields, files) {
      const { url } = await one.running()
      const apiKey = await one.key()
      const packed = await tar(files)
      const { body, headers } = archive('application/x-tar', packed)
      const answer = await fetch(`${url}/api/deployments?${new URLSearchParams(fields)}`, {
        method: 'POST',
        headers: { ...headers, 'x-api-key': apiKey },
        ...(body instanceof Uint8Array ? { body } : {}),
      })
      return answer.status
    },
    db(work) {
      const sqlite = new Database(join(data.path, 'svc.db'))
      try {
        return work(sqlite)
      } finally {
        sqlite.close()
      }
    },
    async expectWhole() {
      await one.kill()
      const check = await runSvc(['check', '--data-dir', data.path])
      expect([check.code, check.stdout, check.stderr]).toEqual([0, expect.any(String), expect.any(String)])
    },
  }
  afterAll(async () => {
    await one.kill()
    data.remove()
  })
  return one
}
