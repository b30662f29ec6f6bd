import { afterAll, beforeAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN, FIRST_ADMIN } from './full-disk.ts'
import { type HookReceiver, hookReceiver, hookSettings } from './hook-receiver.ts'
import { makeHook } from './process-hook.ts'
import { makeDataDir, runSvc, type ServerProcess, startServer } from './server-process.ts'

/** A real server that is killed and started again; `key` is an API key for all projects. */
type Crash = {
  running: ServerProcess
  key: string
  /** Starts it again, on the same data. */
  start(): Promise<ServerProcess>
  dataDir: string
  remove(): void
}

/** For the tests of a file that kill the server while it tells a hook what happens. */
export function crashWithHook(): {
  /** For what is packed. */
  work: string
  receiver(): HookReceiver
  start(events: string[], env?: Record<string, string>): Promise<Crash>
} {
  const work = mkdtempSync(join(tmpdir(), 'svc-work-'))
  const settings = hookSettings()
  let receiver: HookReceiver | undefined
  beforeAll(async () => {
    receiver = await hookReceiver()
  })
  afterAll(async () => {
    await receiver?.close()
    settings.remove()
    rmSync(work, { recursive: true })
  })
  const started = (): HookReceiver => {
    if (receiver === undefined) throw new Error('The receiver starts before the first test')
    return receiver
  }
  return {
    work,
    receiver: started,
    async start(events, more = {}) {
      const { path: dataDir, remove } = makeDataDir()
      const env = { ...settings.env, WEBHOOK_RETRY_SECONDS: '0,0,0,0', ...more }
      const running = await startServer(dataDir, { ...env, ...FIRST_ADMIN })
      await makeHook(running.url, ADMIN, { url: started().url('/', '127.0.0.1'), events })
      const key = (await runSvc(['key', 'create', 'test', '--data-dir', dataDir])).stdout.trim()
      return { running, key, start: () => startServer(dataDir, env), dataDir, remove }
    },
  }
}
