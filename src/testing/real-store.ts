import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OnStore, onStore } from './store-process.ts'

/** On the Ceph that `npm run test:store` starts, in a bucket of its own. */
export async function onRealStore(more: Record<string, string> = {}): Promise<OnStore> {
  const on = onStore({
    STORE_URL: `s3://svc-${Bun.randomUUIDv7()}/a/b`,
    STORE_ENDPOINT: realStore.endpoint,
    STORE_TIMEOUT_SECONDS: '10',
    ...more,
  })
  // The first bucket of a new Ceph takes its time.
  const made = await on.svc(['store', 'init', '--create-bucket'], { STORE_TIMEOUT_SECONDS: '60' })
  if (made.code !== 0) throw new Error(made.stderr)
  return on
}

/** The Ceph itself. */
export const realStore = {
  get endpoint(): string {
    return settingOf('SVC_TEST_STORE')
  },
  /** For its own commands. */
  get conf(): string {
    return join(settingOf('SVC_TEST_STORE_FOLDER'), 'ceph.conf')
  },
}

/** The store answers nothing more, as if the network were cut, until `SIGCONT`. */
export function signalStore(name: 'SIGSTOP' | 'SIGCONT'): void {
  const pidFile = join(settingOf('SVC_TEST_STORE_FOLDER'), 'run', 'client.admin.pid')
  process.kill(Number(readFileSync(pidFile, 'utf8')), name)
}

function settingOf(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: npm run test:store does it`)
  return value
}
