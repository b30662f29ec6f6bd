import { afterEach, expect, test } from 'bun:test'
import { openTargets } from '../../src/modules/cdn/targets.ts'
import { seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'

let app: TestApp
afterEach(() => app.close())

const FILES = { 'index.html': 'x' }

test('a contributor purges the CDN from the project, a viewer has no button, and Health says what waits', async () => {
  app = await testApp({ CDN_KIND: 'varnish', CDN_URL: 'http://cache.test' })
  await app.addUser('root@example.com', 'admin')
  const { projectId } = await seedDeployment(app, {
    owner: 'a',
    repo: 'b',
    sha: 'a'.repeat(40),
    files: FILES,
  })
  openTargets(app.ctx)
  const [contributor, viewer] = [
    await seedMember(app, projectId, 'contributor'),
    await seedMember(app, projectId, 'viewer'),
  ]
  const at = `/projects/${projectId}`
  const shown = async (path: string, as: string) => (await app.call('GET', path, { as })).text()
  expect(await shown(at, contributor)).toContain('Purge the CDN')
  expect(await shown(at, viewer)).not.toContain('Purge the CDN')
  const submit = (as: string) =>
    app.call('POST', at, {
      as,
      body: 'intent=purge',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' },
    })
  expect((await submit(viewer)).status).toBe(403)
  const done = await submit(contributor)
  expect([done.status, done.headers.get('location')]).toEqual([303, `${at}?done=purged`])
  expect(await shown('/admin/health', 'root@example.com')).toContain('<code>varnish</code>')
})

test('without a CDN there is neither', async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  const { projectId } = await seedDeployment(app, {
    owner: 'a',
    repo: 'b',
    sha: 'a'.repeat(40),
    files: FILES,
  })
  for (const path of [`/projects/${projectId}`, '/admin/health'])
    expect(await (await app.call('GET', path, { as: 'root@example.com' })).text()).not.toContain('CDN')
})
