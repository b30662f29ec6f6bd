import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ObjectStore, openObjectStore } from '../../src/platform/object-store.ts'
import { STORE_KEYS } from '../../src/testing/object-server.ts'
import { run, svcExecutable } from './lib/lab.ts'

const SCRIPT = join(import.meta.dir, '..', 'store', 'ceph.sh')
const PORT = 23_500
const TIMEOUT_SECONDS = 60

/** A Ceph in memory on this machine, on all its cores. */
export type Ceph = { port: number; stop(): void }

export async function startCeph(): Promise<Ceph> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ceph-'))
  const stop = () => {
    process.off('exit', stop)
    Bun.spawnSync(['bash', SCRIPT, 'stop', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', stop)
  await run(['bash', SCRIPT, 'install'])
  await run(['bash', SCRIPT, 'start', folder, String(PORT)])
  return { port: PORT, stop }
}

/** A place in the store, by the settings of a server and as our own client sees it. */
export type Place = { env: Record<string, string>; store: ObjectStore }

/** `port` is the store's own, or that of a relay to it. */
export async function newPlace(port: number): Promise<Place> {
  const { region, accessKey, secretKey } = STORE_KEYS
  const [bucket, prefix] = [`bench-${Bun.randomUUIDv7()}`, 'w/']
  const endpoint = `http://127.0.0.1:${port}`
  const env = {
    STORE_URL: `s3://${bucket}/w`,
    STORE_ENDPOINT: endpoint,
    STORE_ACCESS_KEY: accessKey,
    STORE_SECRET_KEY: secretKey,
    STORE_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS),
    SECRET_KEY: Buffer.alloc(32, 3).toString('base64'),
  }
  await run([svcExecutable, 'store', 'init', '--create-bucket'], { env })
  const options = { bucket, prefix, endpoint, region, accessKey, secretKey }
  const timeoutMs = TIMEOUT_SECONDS * 1000
  return { env, store: openObjectStore({ ...options, timeoutMs, now: Date.now, writer: 'bench' }) }
}
