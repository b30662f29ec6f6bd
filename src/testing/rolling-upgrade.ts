import { expect } from 'bun:test'
import { cookieOf, signIn } from './full-disk.ts'
import { freePort, type ServerProcess } from './server-process.ts'
import { until } from './until.ts'

export const LATER_MIGRATION = {
  name: '9999_later',
  sql: 'CREATE TABLE later (id TEXT PRIMARY KEY) STRICT; ALTER TABLE users ADD COLUMN later TEXT;',
}

export type Version = 'old' | 'new'
type Start = (version: Version, name: string, env: Record<string, string>) => Promise<ServerProcess>

/** Stand-bys, primary, nodes, as docs/store/runbook.md has it: a node that was left behind passes on all the while. */
export async function upgradeInTurn(start: Start): Promise<void> {
  const machine = (version: Version, name: string, role: string) => {
    const port = String(freePort())
    const url = `http://127.0.0.1:${port}`
    return start(version, name, { ROLE: role, PORT: port, MACHINE_URL: url, NODE_SECRET: 'x'.repeat(32) })
  }
  const one = await machine('old', 'one', 'auto')
  const cookie = cookieOf(await signIn(one))
  const [node, two] = await Promise.all([machine('old', 'node', 'node'), machine('new', 'two', 'standby')])
  const add = async (server: ServerProcess, name: string): Promise<number> =>
    (
      await fetch(`${server.url}/api/users`, {
        method: 'POST',
        headers: { cookie, origin: server.url, 'content-type': 'application/json' },
        body: JSON.stringify({ email: `${name}@example.com` }),
      })
    ).status
  const until201 = (server: ServerProcess, name: string) =>
    until(`${name} is added`, async () => (await add(server, name)) === 201)
  const health = async ({ url }: ServerProcess) => (await fetch(`${url}/api/health`)).json()

  expect(await add(node, 'by-one')).toBe(201)
  await stop(one)
  await until201(node, 'by-two')
  await until('it stops following', () => node.output().includes('changed by a newer svc'))
  expect(await health(node)).toMatchObject({
    status: 'ok',
    role: 'node',
    checks: { store: { status: 'error' } },
  })

  // The log that names this one is not applied there.
  const three = await machine('new', 'three', 'standby')
  await stop(two)
  await until201(node, 'by-three')
  expect(await add(three, 'by-two')).toBe(409)
  // One that was left behind is not primary again, although the last one stepped down.
  const again = await machine('old', 'one', 'auto')
  await stop(three)
  await Bun.sleep(4_500)
  expect((await fetch(`${again.url}/api/health/primary`)).status).toBe(503)
  expect(await health(again)).toMatchObject({ role: 'standby', checks: { store: { status: 'error' } } })

  await Promise.all([stop(node), stop(again)])
  const [last] = await Promise.all([machine('new', 'three', 'auto'), machine('new', 'node', 'node')])
  for (const name of ['by-one', 'by-two', 'by-three']) expect(await add(last, name)).toBe(409)
}

async function stop(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
}
