import { createServer, type Server } from 'node:http'
import { call, cookieOf } from './accounts.ts'
import type { Svc } from './svc.ts'

/** With this a server may tell receivers on this machine. */
export const HOOK_ENV = { PROXY_ALLOWED_TARGETS: '127.0.0.1' }

/** Receivers of webhooks, each of its own address, that take every request and answer none. */
export async function startHangingReceivers(count: number) {
  const servers = await Promise.all(Array.from({ length: count }, startHanging))
  return {
    urls: servers.map(urlOf),
    close() {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

/** Hooks of the workspace, one for each address, told of everything. */
export async function addHooks(svc: Svc, urls: readonly string[]): Promise<void> {
  const headers = { cookie: await cookieOf(svc), origin: svc.url }
  for (const [place, url] of urls.entries())
    await call(svc, 'POST', '/api/webhooks', { name: `hook ${place}`, url, events: ['*'] }, headers)
}

async function startHanging(): Promise<Server> {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}/hook`
}
