import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa } from '../testing/test-ca.ts'
import { apiClient } from './api-client.ts'
import { casOfMarkedFile } from './extra-cas.ts'

const ca = createTestCa()
let folder: string
let path: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-cas-'))
  path = join(folder, 'ca.pem')
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a server with an authority of its own is trusted, although the file of its root begins with a mark', async () => {
  const { cert, key } = ca.issue({ names: ['localhost'] })
  const server = Bun.serve({ port: 0, tls: { cert, key }, fetch: () => Response.json({ ok: true }) })
  writeFileSync(path, `\ufeff${ca.pem}`)
  const options = { apiUrl: `https://localhost:${server.port}`, apiKey: 'svc_k', env: {} }
  await expect(apiClient(options).json('GET', '/api/x')).rejects.toThrow('is not trusted')
  const client = apiClient({ ...options, ca: casOfMarkedFile(path) })
  expect(await client.json('GET', '/api/x')).toEqual({ ok: true })
  await server.stop(true)
})

test('a file without a mark, none, and one that is not there are left to the runtime; UTF-16 is refused', () => {
  writeFileSync(path, ca.pem)
  expect([path, undefined, '', join(folder, 'none')].map(casOfMarkedFile)).toEqual([null, null, null, null])
  writeFileSync(path, Buffer.from(`\ufeff${ca.pem}`, 'utf16le'))
  expect(() => casOfMarkedFile(path)).toThrow('which is written in UTF-16')
})
