import { expect, test } from 'bun:test'
import { tar } from '../modules/deployments/upload/upload.fixture.ts'
import { randomBytes } from '../platform/random.ts'
import { addSchema, callsTo, cookieOf, FIRST_ADMIN, fillDisk, signIn } from '../testing/full-disk.ts'
import { makeDataDir, onSmallDisk, startServer } from '../testing/server-process.ts'

const MIB = 1024 * 1024

test('below the floor uploads are refused before their body is read, and everything else goes on', async () => {
  const data = makeDataDir()
  const env = { ...FIRST_ADMIN, MIN_FREE_DISK: String(12 * MIB) }
  const server = await startServer(data.path, env, onSmallDisk(data.path, 32))
  const cookie = cookieOf(await signIn(server))
  const call = callsTo(server, cookie)
  const { projectId, records } = await addSchema(call)
  const upload = (sha: string, body: BodyInit) =>
    fetch(`${server.url}/api/deployments?repository=acme/docs&commitSha=${sha.repeat(40)}&alias=live`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-tar' },
      body,
    })
  const tarOf = async (size: number) => new Uint8Array(await tar({ 'index.html': randomBytes(size) }))

  expect((await upload('a', await tarOf(1000))).status).toBe(201)
  const storage = async () => (await call('GET', '/api/storage')).json() as Promise<Record<string, unknown>>
  expect(await storage()).toMatchObject({ floorBytes: 12 * MIB, isLow: false })

  // The disk falls below the floor in the middle of an upload: it is published whole.
  const middle = await tarOf(MIB)
  const ballast = `/proc/${server.pid}/root${data.path}`
  let isHalf = () => {}
  const half = new Promise<void>((resolve) => {
    isHalf = resolve
  })
  const filled = Promise.withResolvers<void>()
  const sending = upload(
    'b',
    new ReadableStream({
      async start(controller) {
        controller.enqueue(middle.subarray(0, MIB / 2))
        isHalf()
        await filled.promise
        controller.enqueue(middle.subarray(MIB / 2))
        controller.close()
      },
    }),
  )
  await half
  await Bun.write(`${ballast}/ballast-to-the-floor`, new Uint8Array(19 * MIB))
  filled.resolve()
  expect((await sending).status).toBe(201)
  expect(await storage()).toMatchObject({ isLow: true })

  const refused = await upload('c', await tarOf(1000))
  expect(refused.status).toBe(507)
  expect(await refused.json()).toMatchObject({
    error: 'DISK_LOW',
    details: [{ path: 'freeBytes', floor: 12 * MIB, free: expect.any(Number) }],
  })
  const manifest = { owner: 'acme', repo: 'docs', commitSha: 'd'.repeat(40), files: [] }
  expect((await call('POST', '/api/deployments/manifest', manifest)).status).toBe(507)
  expect((await call('POST', records, { note: 'x' })).status).toBe(201)
  const run = await call('POST', `/api/projects/${projectId}/retention/run`, { dryRun: false })
  expect(run.status).toBe(200)
  const { data: published } = (await (await call('GET', '/api/deployments')).json()) as { data: unknown }
  expect(published).toMatchObject([
    { fileCount: 1, totalSize: MIB },
    { fileCount: 1, totalSize: 1000 },
  ])

  // Retention runs on a full disk, too.
  const full = fillDisk(ballast)
  expect((await call('PUT', `/api/projects/${projectId}/retention`, { keepLast: 1 })).status).toBe(200)
  expect((await call('POST', `/api/projects/${projectId}/retention/run`, { dryRun: false })).status).toBe(200)
  full.free()
  await Bun.file(`${ballast}/ballast-to-the-floor`).delete()
  expect((await upload('c', await tarOf(1000))).status).toBe(201)
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  data.remove()
}, 60_000)
