import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
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
  process.kill(pidIn(settingOf('SVC_TEST_STORE_FOLDER'), 'client.admin'), name)
}

/** Another Ceph, of three OSDs with a copy on each. */
export type ThreeOsds = {
  endpoint: string
  /** One of them is gone, and the machines that it was on. */
  killOsd(id: number): void
  /** How many the others take to be there. */
  osdsUp(): Promise<number>
  stop(): Promise<void>
}

const PORT = 23_260

export async function startThreeOsds(): Promise<ThreeOsds> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ceph-'))
  const stop = async () => {
    await script('stop', folder)
    rmSync(folder, { recursive: true, force: true })
  }
  if ((await script('start', folder, String(PORT), '3')) !== 0) {
    await stop()
    throw new Error('Ceph with three OSDs does not start')
  }
  return {
    endpoint: `http://127.0.0.1:${PORT}`,
    killOsd: (id) => void process.kill(pidIn(folder, `osd.${id}`), 'SIGKILL'),
    async osdsUp() {
      const env = { ...process.env, CEPH_CONF: join(folder, 'ceph.conf') }
      const child = Bun.spawn(['ceph', 'osd', 'stat', '--format', 'json'], { env, stderr: 'ignore' })
      return (await new Response(child.stdout).json()).num_up_osds
    },
    stop,
  }
}

const SCRIPT = join(import.meta.dir, '..', '..', 'scripts', 'store', 'ceph.sh')
const script = (...args: string[]): Promise<number> =>
  Bun.spawn(['bash', SCRIPT, ...args], { stdio: ['ignore', 'inherit', 'inherit'] }).exited

const pidIn = (folder: string, name: string): number =>
  Number(readFileSync(join(folder, 'run', `${name}.pid`), 'utf8'))

function settingOf(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: npm run test:store does it`)
  return value
}
