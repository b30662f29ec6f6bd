import { afterEach, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** The records that lead a host to this server. contract 17.12. */

let app: TestApp
afterEach(() => app.close())

async function recordsOf(hostname: string, env: Record<string, string>): Promise<unknown> {
  app = await testApp(env)
  await app.addUser('root@example.com', 'admin')
  const { projectId } = await seedDeployment(app, {
    ...{
      owner: 'acme',
      repo: 'docs',
      sha: 'a'.repeat(40),
      alias: 'production',
      files: { 'index.html': 'x' },
    },
  })
  const json = { projectId, hostname, alias: 'production' }
  const { status, body } = await ask(app, 'POST', '/api/domains', { as: 'root@example.com', json })
  expect(status).toBe(201)
  return body['dnsRecords']
}

test('are those of SERVER_ADDRESSES, as DNS writes them', async () => {
  const env = { SERVER_ADDRESSES: '203.0.113.7, 2001:DB8:0:0::7' }
  expect(await recordsOf('www.example.com', env)).toEqual([
    { type: 'A', name: 'www.example.com', value: '203.0.113.7' },
    { type: 'AAAA', name: 'www.example.com', value: '2001:db8::7' },
  ])
})

test('are none where nothing is to be set', async () => {
  expect(await recordsOf('shop.localhost', { SERVER_ADDRESSES: '203.0.113.7' })).toEqual([])
})
