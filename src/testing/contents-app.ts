import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openObjectStore } from '../platform/object-store.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from './object-server.ts'
import { type TestApp, testApp } from './test-app.ts'

/** A server whose contents are in an object store of its own. */
export type ContentsApp = TestApp & {
  store: ObjectServer
  /** Removes all local copies, those in memory too. */
  forget(): void
  close(): void
}

export async function contentsApp(
  env: Record<string, string> = {},
  { timeoutMs = 10_000 }: { timeoutMs?: number } = {},
): Promise<ContentsApp> {
  const server = startObjectServer()
  const { endpoint } = server
  const where = { ...STORE_KEYS, bucket: 'bucket', prefix: 'svc/', endpoint }
  const store = openObjectStore({ ...where, timeoutMs, now: Date.now, writer: 'w1' })
  const app = await testApp(env, {}, { isOnDisk: false, store: { store, epoch: () => 1 } })
  return {
    ...app,
    store: server,
    forget() {
      app.ctx.blobs.close()
      app.ctx.blobs.replacements += 1
      for (const folder of ['blobs/packs', 'blobs/files', 'cache'])
        rmSync(join(app.ctx.config.dataDir, folder), { recursive: true, force: true })
    },
    close() {
      app.close()
      void server.stop()
    },
  }
}
