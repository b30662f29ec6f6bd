import type { Context, Machine } from '../context.ts'
import { noLogSync } from '../db/log-sync.ts'
import type { Db } from '../db/open.ts'
import { notPrimary } from '../domain/store-errors.ts'
import type { Peer } from '../http/arrival.ts'
import { createSockets, type SocketOwner } from '../http/wire.ts'
import type { App } from '../server/app.ts'
import { createFollowerApp, type Followed } from '../server/machines/follower-app.ts'
import { type StoreApp, storeApp } from './store-app.ts'
import { type CallOptions, send } from './test-app.ts'

export const NODE_SECRET = 'a secret of all machines of this test'
/** Longer than the first pause before it is tried again. */
const REACH_MS = 400
const PAIR_ENV = { NODE_SECRET, MACHINE_URL: 'http://127.0.0.1:1', MACHINE_NAME: 'one' }

/** A primary, and a machine that follows it on the same database, in which it may write nothing. Both have ports. */
export type MachinePair = {
  primary: StoreApp
  primaryAt: string
  follower: App & { ctx: Context; url: string }
  /** Where the follower takes the primary to be; null for nowhere. */
  primaryUrl: string | null
  following: TestFollowed
  /** As `TestApp.call`, to the follower. */
  call(method: string, path: string, options?: CallOptions): Promise<Response>
  /** The requests that came to the primary, with the header that a machine adds. */
  forwarded: { method: string; target: string; headers: Headers }[]
  close(): Promise<void>
}

/** How the follower stands, as a test says. */
export type TestFollowed = {
  -readonly [K in keyof Followed]: Followed[K]
} & {
  /** How long it has not heard from the store. */
  silentMs: number
  /** Those who wait for a number: `apply` ends it. */
  waits: { number: number; ms: number }[]
  apply(number: number): void
}

export async function machinePair(env: Record<string, string> = {}): Promise<MachinePair> {
  const primary = await storeApp({ ...PAIR_ENV, ...env })
  const forwarded: MachinePair['forwarded'] = []
  const first = listen((request, peer) => {
    const target = request.url.slice(request.url.indexOf('/', 8))
    forwarded.push({ method: request.method, target, headers: new Headers(request.headers) })
    return primary.app.fetch(request, peer)
  })
  const following = followed()
  const machine: Machine = {
    ...machineOf(primary.ctx),
    name: 'two',
    role: () => 'node',
    primary: () => ({ name: 'one', url: pair.primaryUrl }),
  }
  const ctx: Context = { ...primary.ctx, db: readOnly(primary.ctx.db), machine }
  const app = createFollowerApp(ctx, machine, { following, reachMs: REACH_MS })
  const second = listen(app.fetch)
  const pair: MachinePair = {
    primary,
    primaryAt: first.url,
    primaryUrl: first.url,
    follower: { ctx, fetch: app.fetch, url: second.url },
    following,
    forwarded,
    async call(method, path, options = {}) {
      const { as, headers, ...rest } = options
      const cookie = as === undefined ? {} : { cookie: await primary.cookieOf(as) }
      return send(app, method, path, { ...rest, headers: { ...cookie, ...headers } })
    },
    async close() {
      app.close()
      await Promise.all([first.stop(), second.stop()])
      primary.close()
    },
  }
  return pair
}

function machineOf({ machine }: Context): Machine {
  if (machine === null) throw new Error('The server has no store')
  return machine
}

/** The same rows, with caches of its own, and no way to write. */
function readOnly(db: Db): Db {
  const log = { ...noLogSync(), refusal: notPrimary, isOfDisk: false }
  return {
    ...db,
    log,
    get orm() {
      return db.orm
    },
    get writes() {
      return db.writes
    },
    set writes(_) {
      throw new Error('A machine that follows wrote')
    },
  }
}

function followed(): TestFollowed {
  let waiting: { number: number; done: (isReached: boolean) => void }[] = []
  const all: TestFollowed = {
    number: 7,
    isNewer: false,
    isOlder: false,
    silentMs: 0,
    waits: [],
    get currentAt() {
      return performance.now() - all.silentMs
    },
    reached(number, ms) {
      all.waits.push({ number, ms })
      const { promise, resolve } = Promise.withResolvers<boolean>()
      waiting.push({ number, done: resolve })
      return promise
    },
    apply(number) {
      all.number = number
      const mine = waiting
      waiting = []
      for (const { number: wanted, done } of mine) done(wanted <= number)
    },
  }
  return all
}

/** A listener on loopback, WebSockets included. */
function listen(fetch: App['fetch']): { url: string; stop(): Promise<void> } {
  const sockets = createSockets()
  const server = Bun.serve<SocketOwner>({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    websocket: sockets.handlers,
    fetch(request) {
      const peer: Peer = {
        address: server.requestIP(request)?.address ?? '',
        allowSilence: (isAllowed) => server.timeout(request, isAllowed ? 0 : 60),
        upgrade: (headers, data) => server.upgrade(request, { headers, data }),
      }
      return fetch(request, peer)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}
