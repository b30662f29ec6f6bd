import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Seeded, seedDeployment } from '../src/testing/seed.ts'
import { seedMember } from '../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../src/testing/test-app.ts'
import { ADMIN } from './testing/browser.ts'

let app: TestApp
let site: Seeded
let contributor: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser(ADMIN, 'admin')
  const files = { 'index.html': 'x' }
  site = await seedDeployment(app, { owner: 'acme', repo: 'website', sha: 'c0ffee1234567890', files })
  contributor = await seedMember(app, site.projectId, 'contributor')
})
afterAll(() => app.close())

/** Sends a form in two parts and runs something between them. */
async function submitSlowly(form: Record<string, string>, meanwhile: () => Promise<unknown>) {
  const text = new URLSearchParams(form).toString()
  const pieces = [text.slice(0, 5), text.slice(5)]
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = pieces.shift()
        if (piece === undefined) return controller.close()
        if (pieces.length === 0) await meanwhile()
        controller.enqueue(new TextEncoder().encode(piece))
      },
    },
    { highWaterMark: 0 },
  )
  return app.call('POST', `/projects/${site.projectId}/aliases`, {
    as: contributor,
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' },
  })
}

const aliases = async () =>
  (await (await app.call('GET', `/api/aliases?projectId=${site.projectId}`, { as: ADMIN })).json()).data.map(
    ({ name }: { name: string }) => name,
  )

test('a form does nothing if its sender lost the role while it was arriving', async () => {
  const form = (name: string) => ({ intent: 'create', name, deployment: 'c0ffee1234567890' })
  expect((await submitSlowly(form('kept'), async () => {})).status).toBe(303)
  const session = await app.call('GET', '/api/auth/session', { as: contributor })
  const { user } = (await session.json()) as { user: { id: string } }
  const path = `/api/projects/${site.projectId}/permissions/users/${user.id}`
  const lost = await submitSlowly(form('lost'), async () => {
    expect((await app.call('DELETE', path, { as: ADMIN })).ok).toBe(true)
  })
  expect(lost.status).toBe(404)
  expect(await aliases()).toEqual(['kept'])
})
