import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MachinesView } from '../../modules/machines/model.ts'
import { cookieOf, signIn } from '../../testing/full-disk.ts'
import { publishTar, shaOf } from '../../testing/publish-tar.ts'
import { freePort, type ServerProcess } from '../../testing/server-process.ts'
import { newKey, type StoreProcess, storeProcess } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'

/** contract 18 §6, §7: what followers report and hand over, between real processes. */
let at: StoreProcess
let primary: ServerProcess
let node: ServerProcess
let cookie: string
const work = mkdtempSync(join(tmpdir(), 'svc-reporting-'))
const NODE_SECRET = 'secret of the machines, 32 characters'
const HOST = 'live--docs--acme.localhost'

beforeAll(async () => {
  at = await storeProcess()
  primary = await start('one')
  expect(
    await publishTar(
      work,
      primary,
      await newKey({ svc: (args) => at.svc(args, { DATA_DIR: primary.dataDir }) }),
      'docs',
      shaOf(1),
      { 'index.html': 'hello' },
    ),
  ).toBe(true)
  node = await start('two', { ROLE: 'node' })
  cookie = cookieOf(await signIn(primary))
})
afterAll(async () => {
  for (const server of [node, primary]) server?.signal('SIGKILL')
  await Promise.all([node?.exited, primary?.exited])
  await at.remove()
  rmSync(work, { recursive: true })
})

function start(name: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  const PORT = String(freePort())
  const machine = { NODE_SECRET, MACHINE_NAME: name, MACHINE_URL: `http://127.0.0.1:${PORT}`, PORT }
  return at.start({ ...machine, ...more }, `${at.dataDir}-${name}`)
}

const visit = ({ url }: ServerProcess, path: string) => fetch(`${url}${path}`, { headers: { host: HOST } })
const ask = async <T>({ url }: ServerProcess, path: string): Promise<T> =>
  (await (await fetch(`${url}${path}`, { headers: { cookie } })).json()) as T
const logged = async (path: string): Promise<number> =>
  (await ask<{ data: unknown[] }>(primary, `/api/logs?path=${path}`)).data.length

test('the primary lists a node, and whoever asks the node is told by the primary', async () => {
  const found = await until('the node is listed', async () => {
    const view = await ask<MachinesView>(primary, '/api/machines')
    return view.machines.length === 2 && view
  })
  expect(found).toMatchObject({ self: 'one', primary: 'one', store: { url: 's3://bucket/w', status: 'ok' } })
  expect(found.machines[1]).toMatchObject({ name: 'two', role: 'node', url: node.url, epoch: 1 })
  expect(await ask<MachinesView>(node, '/api/machines')).toMatchObject({ self: 'one', primary: 'one' })
  const text = await (await fetch(`${node.url}/metrics`)).text()
  expect(text).toContain('svc_role{role="node"} 1\n')
  expect(text).toMatch(/svc_forwarded_requests_total\{result="answered"\} [1-9]/)
  expect(text).toContain('svc_takeovers_total 0\n')
  expect(await (await fetch(`${primary.url}/metrics`)).text()).toContain('svc_takeovers_total 1\n')
})

test('what a node answered is in the log of the workspace, and what it passed on is there once', async () => {
  expect(await (await visit(node, '/?here')).text()).toBe('hello')
  expect((await visit(node, '/index.html')).status).toBe(200)
  expect((await fetch(`${node.url}/api/nothing-there`)).status).toBe(404)
  node.signal('SIGTERM')
  expect(await node.exited).toBe(0)
  expect(await logged('/index.html')).toBe(1)
  expect(await logged('/api/nothing-there')).toBe(1)
})
