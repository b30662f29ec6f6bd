import { afterEach, expect, test } from 'bun:test'
import { closeSync, existsSync, openSync, statSync, writeSync } from 'node:fs'
import {
  addSchema,
  type Call,
  callsTo,
  cookieOf,
  FIRST_ADMIN,
  fillDisk,
  idOf,
  signIn,
} from '../testing/full-disk.ts'
import { makeDataDir, onSmallDisk, type ServerProcess, startServer } from '../testing/server-process.ts'
import { until } from '../testing/until.ts'

const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end()
})

type Disk = {
  server: ServerProcess
  /** The data directory as this process reaches it, in the server's own mount namespace. */
  path: string
  call: Call
}

/** A server on a small disk, with somebody signed in, a project, two deployments and an alias. */
async function onDisk(sizeMib: number): Promise<Disk> {
  const data = makeDataDir()
  const server = await startServer(data.path, FIRST_ADMIN, onSmallDisk(data.path, sizeMib))
  ended.push(() => {
    server.signal('SIGKILL')
    data.remove()
  })
  const cookie = cookieOf(await signIn(server))
  const path = `/proc/${server.pid}/root${data.path}`
  await until('the reserve', () => existsSync(`${path}/reserve`))
  return { server, path, call: callsTo(server, cookie) }
}

/** Records of 10 KB until the disk refuses one. */
async function untilRefused({ call }: Disk, records: string): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const made = await call('POST', records, { note: 'x'.repeat(10_000) })
    if (made.status === 507) return ids
    expect(made.status).toBe(201)
    ids.push(await idOf(made))
  }
}

/** A change needs fewer pages than a record, so that a few may still find room in the log where a record does not. */
async function untilChangesAreRefused(call: Call, path: string): Promise<void> {
  const statuses: number[] = []
  while (statuses.at(-1) !== 507 && statuses.length < 10)
    statuses.push((await call('PATCH', path, { isSpa: statuses.length % 2 === 0 })).status)
  expect(statuses.at(-1)).toBe(507)
}

const reserveMetric = async ({ url }: ServerProcess) =>
  Number(/^svc_reserve_bytes (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1])

test('on a full disk people sign in and out and delete, others get 507, and the reserve is made anew once there is room', async () => {
  const disk = await onDisk(64)
  const { server, path, call } = disk
  expect(statSync(`${path}/reserve`)).toMatchObject({ size: 1024 * 1024, blocks: 2048 })
  expect(await reserveMetric(server)).toBe(1024 * 1024)
  const { projectId, records } = await addSchema(call)
  const kept = await idOf(await call('POST', records, { note: 'kept' }))

  const { free } = fillDisk(path)
  const ids = await untilRefused(disk, records)
  expect(await reserveMetric(server)).toBe(1024 * 1024)

  const signedIn = await signIn(server)
  expect(signedIn.status).toBe(200)
  const out = await fetch(`${server.url}/api/auth/signout`, {
    method: 'POST',
    headers: { cookie: cookieOf(signedIn) },
  })
  expect(out.status).toBe(200)
  for (let i = 0; i < 3; i++) expect((await signIn(server)).status).toBe(200)
  expect([await reserveMetric(server), existsSync(`${path}/reserve`)]).toEqual([0, false])
  for (const one of [kept, ...ids]) expect((await call('DELETE', `${records}/${one}`)).status).toBe(204)
  expect((await call('POST', records, { note: 'no' })).status).toBe(507)
  expect((await call('PATCH', `/api/projects/${projectId}`, { displayName: 'no' })).status).toBe(507)

  free()
  expect((await call('POST', records, { note: 'yes' })).status).toBe(201)
  await until('the reserve', () => existsSync(`${path}/reserve`))
  expect(await reserveMetric(server)).toBe(1024 * 1024)
  expect((await call('DELETE', `/api/projects/${projectId}`)).status).toBe(204)
}, 120_000)

test('a whole project is deleted on a full disk, and an alias is moved back', async () => {
  const disk = await onDisk(64)
  const { path, call, server } = disk
  const publish = async (digit: string) => {
    const form = new FormData()
    const fields = { owner: 'acme', repo: 'docs', commitSha: digit.repeat(40), alias: 'live' }
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    form.append('file', new Blob([`version ${digit}`]), 'index.html')
    const cookie = cookieOf(await signIn(server))
    const made = await fetch(`${server.url}/api/deployments`, {
      method: 'POST',
      headers: { cookie },
      body: form,
    })
    expect(made.status).toBe(201)
  }
  const { records, projectId } = await addSchema(call)
  await publish('a')
  await publish('b')
  const list = (await (await call('GET', `/api/aliases?projectId=${projectId}`)).json()) as {
    data: { id: string }[]
  }
  fillDisk(path)
  await untilRefused(disk, records)
  const aliasId = list.data[0]?.id
  await untilChangesAreRefused(call, `/api/aliases/${aliasId}`)
  expect((await call('PATCH', `/api/aliases/${aliasId}`, { commitSha: 'a'.repeat(40) })).status).toBe(200)
  expect((await call('POST', `/api/aliases/${aliasId}/rollback`, {})).status).toBe(200)
  expect((await call('DELETE', `/api/projects/${projectId}`)).status).toBe(204)
  const gone = await fetch(`${server.url}/`, { headers: { host: 'live--docs--acme.localhost' } })
  expect(gone.status).toBe(404)
}, 120_000)

test('a sparse reserve is made anew, and what a killed server left half made is removed', async () => {
  const data = makeDataDir()
  ended.push(data.remove)
  await Bun.write(`${data.path}/reserve.new`, 'half')
  const sparse = openSync(`${data.path}/reserve`, 'w')
  writeSync(sparse, new Uint8Array(1), 0, 1, 32 * 1024 * 1024 - 1)
  closeSync(sparse)
  expect(statSync(`${data.path}/reserve`).blocks).toBeLessThan(1000)
  const server = await startServer(data.path)
  ended.push(() => server.signal('SIGKILL'))
  await until('real blocks', () => {
    const { size, blocks } = statSync(`${data.path}/reserve`)
    return size === 32 * 1024 * 1024 && blocks * 512 >= size
  })
  expect(existsSync(`${data.path}/reserve.new`)).toBe(false)
}, 60_000)
