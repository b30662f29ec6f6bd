import type { Machine } from '../context.ts'
import { StoreActivity } from '../platform/object-store/activity.ts'
import { type ObjectStore, openObjectStore } from '../platform/object-store.ts'
import { createStoreApp } from '../server/store/app.ts'
import { type HeldLog, holdLog } from './held-log.ts'
import { type TestApp, type TestStorage, testApp } from './test-app.ts'

export const STORE_ENV = {
  STORE_URL: 's3://bucket',
  STORE_ACCESS_KEY: 'svckey',
  STORE_SECRET_KEY: 'svcsecret',
}

export type StoreApp = TestApp & { log: HeldLog }

/** A server of a workspace in an object store, which takes what is written when `log` is told so. */
export async function storeApp(env: Record<string, string> = {}, storage?: TestStorage): Promise<StoreApp> {
  const app = await testApp({ ...STORE_ENV, ...env }, {}, storage)
  const log = holdLog(app.ctx.db)
  const activity = new StoreActivity()
  const machine: Machine = {
    name: 'one',
    role: () => (log.state === 'deposed' ? 'standby' : 'primary'),
    epoch: () => 3,
    primary: () => ({ name: 'one', url: null }),
    heardAt: () => (log.state === 'away' ? Number.NEGATIVE_INFINITY : performance.now()),
    state: () => ({
      number: 7,
      unshippedBytes: log.waiting,
      lagMs: 0,
      isStoreUp: log.state !== 'away',
      error: log.state === 'away' ? 'no answer' : null,
    }),
    store: storage?.store?.store ?? nowhere(activity),
    activity,
  }
  app.ctx.machine = machine
  app.app.fetch = createStoreApp(app.ctx, machine).fetch
  return Object.assign(app, { log })
}

/** No store is at this address. */
const nowhere = (activity: StoreActivity): ObjectStore =>
  openObjectStore({
    ...{ bucket: 'bucket', prefix: '', endpoint: 'http://127.0.0.1:1', region: 'us-east-1' },
    ...{ accessKey: 'svckey', secretKey: 'svcsecret', timeoutMs: 100, now: Date.now, writer: 'w1' },
    onRequest: (op, result, ms) => activity.note(op, result, ms),
  })
