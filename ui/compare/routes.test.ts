import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'

/** The pages of Compare. contract 17.4. */
let app: TestApp
let site: Seeded
const published: Seeded[] = []
const publish = async (files: Record<string, string | Uint8Array>, alias?: string) => {
  app.advance(1000)
  const sha = String(published.length + 1).padStart(40, '0')
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'site',
    sha,
    files,
    ...(alias && { alias }),
  })
  published.push(seeded)
  return seeded
}
beforeAll(async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  site = await publish({ 'index.html': 'one\n<b>two</b>\n', 'a.png': 'old', 'data.bin': '\0' }, 'production')
  await publish({ 'index.html': 'one\n<b>2</b>\n', 'a.png': 'newer', 'data.bin': '\0\0' }, 'production')
  await publish({ 'index.html': 'one\n<b>2</b>\n' }, 'staging')
  await seedMember(app, site.projectId, 'guest')
  await seedMember(app, site.projectId, 'viewer')
})
afterAll(() => app.close())

const show = async (rest: string, as = SEED_OWNER, headers: Record<string, string> = {}) => {
  const answer = await app.call('GET', `/projects/${site.projectId}/compare${rest}`, {
    as,
    headers: { accept: 'text/html', ...headers },
  })
  return { status: answer.status, text: await answer.text(), cookie: answer.headers.get('set-cookie') ?? '' }
}
const headingOf = (text: string) => /<h1>(.*?)<\/h1>/.exec(text)?.[1]

const CHOICES: [rest: string, heading: string][] = [
  ['', 'Compare #1 with #2'],
  ['?from=2&to=1', 'Compare #2 with #1'],
  ['?from=production&to=staging', 'Compare #2 with #3'],
  ['?to=3', 'Compare #2 with #3'],
  ['?to=2', 'Compare #1 with #2'],
  ['?from=%231&to=%233', 'Compare #1 with #3'],
]
test.each(CHOICES)('%s is %s', async (rest, heading) => {
  const { status, text } = await show(rest)
  expect([status, headingOf(text)]).toEqual([200, heading])
})

test('the same twice says so; what does not exist is not found', async () => {
  expect((await show('?from=2&to=production')).text).toContain('Both are #2')
  for (const rest of ['?from=9&to=1', '?from=nothing', '/file?from=1&to=2&path=nothing'])
    expect((await show(rest)).status).toBe(404)
  expect((await show('', 'viewer@example.com')).status).toBe(200)
  expect((await show('', 'guest@example.com')).status).toBe(403)
})

test('a file: its lines, escaped; the view that was chosen last', async () => {
  const file = '/file?from=1&to=2&path=index.html'
  const unified = await show(file)
  expect(unified.text).toContain('&lt;b>two&lt;/b>')
  expect(unified.text).toContain('<table class="changes-table unified">')
  const chosen = await show(`${file}&view=split`)
  expect(chosen.text).toContain('<table class="changes-table split">')
  expect(chosen.cookie).toMatch(/^svc_compare_view=split; Path=\/projects; Max-Age=31536000; HttpOnly/)
  const cookie = `${await app.cookieOf(SEED_OWNER)}; svc_compare_view=split`
  const again = await show(file, SEED_OWNER, { cookie })
  expect(again.text).toContain('<table class="changes-table split">')
})

test('other files: pictures, or sizes and types', async () => {
  const image = await show('/file?from=1&to=2&path=a.png')
  for (const { deploymentId } of published.slice(0, 2))
    expect(image.text).toContain(
      `<img class="preview-image" src="/api/deployments/${deploymentId}/content?path=a.png"`,
    )
  const binary = await show('/file?from=1&to=2&path=data.bin')
  for (const part of ['no text', '1\u00a0B', '2\u00a0B', 'application/octet-stream'])
    expect(binary.text).toContain(part)
})

test('every list of changed files, row and deployment leads to it', async () => {
  const { projectId } = site
  const page = async (path: string) =>
    (await app.call('GET', `/projects/${projectId}${path}`, { as: SEED_OWNER })).text()
  const file = `href="/projects/${projectId}/compare/file?from=1&amp;to=2&amp;path=index.html"`
  expect(await page('/deployments')).toContain(`href="/projects/${projectId}/compare?from=1&amp;to=2"`)
  const deployment = await page('/deployments/2')
  expect(deployment).toContain(file)
  expect(deployment).toContain(`href="/projects/${projectId}/compare?to=2"`)
  const aliases = await app.call('GET', `/api/aliases?projectId=${projectId}&name=production`, {
    as: SEED_OWNER,
  })
  const [alias] = ((await aliases.json()) as { data: { id: string }[] }).data
  const back = await page(`/aliases/${alias?.id}/move?to=${site.deploymentId}`)
  expect(back).toContain(`href="/projects/${projectId}/compare?from=2&amp;to=1"`)
})
