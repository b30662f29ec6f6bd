import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { zip } from '../../src/platform/archive/zip.fixture.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let first: Seeded
let second: Seeded
let contributor: string

const SITE = { owner: 'acme', repo: 'website', isPublic: false }
const FIRST_SHA = 'a1b2c3d4e5f60718'
const SECOND_SHA = 'c0ffee1234567890'

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  first = await seedDeployment(app, {
    ...SITE,
    sha: FIRST_SHA,
    alias: 'production',
    branch: 'main',
    files: { 'index.html': '<h1>One</h1>', 'old.html': 'old', 'assets/a.css': 'a{}' },
  })
  app.advance(60_000)
  second = await seedDeployment(app, {
    ...SITE,
    sha: SECOND_SHA,
    alias: 'production',
    branch: 'next',
    files: { 'index.html': '<h1>Two</h1>', 'new.html': 'new', 'assets/a.css': 'a{}', 'data.bin': 'a\0b' },
  })
  contributor = await seedMember(app, first.projectId, 'contributor')
})
afterAll(() => app.close())

const at = (rest = '') => `/projects/${first.projectId}${rest}`
const deploymentAt = (rest = '') => at(`/deployments/2${rest}`)
const aliasAt = (rest = '') => at(`/aliases/${first.aliasId}${rest}`)

/** As a browser does, which follows the address with the id. */
async function readById(projectId: string, id: string, rest = ''): Promise<string> {
  const answer = await browser.open(`/projects/${projectId}/deployments/${id}${rest}`, { as: ADMIN })
  return read(answer.headers.get('location') ?? '')
}

async function read(path: string, as = ADMIN): Promise<string> {
  const answer = await browser.open(path, { as })
  expect(answer.status).toBe(200)
  return answer.text()
}

test('the overview shows production first, then the aliases that changed last', async () => {
  const seeds = { owner: 'acme', repo: 'busy', files: { 'index.html': '' } }
  let projectId = ''
  for (const alias of ['production', 'a', 'b', 'c', 'd', 'e']) {
    app.advance(60_000)
    projectId = (await seedDeployment(app, { ...seeds, sha: app.ctx.newId().replaceAll('-', ''), alias }))
      .projectId
  }
  const html = await read(`/projects/${projectId}`)
  const [, live = ''] = html.match(/<caption[^>]*>Live aliases(.*?)<\/table>/s) ?? []
  const names = [...live.matchAll(/<strong>(\w+)<\/strong>/g)].map(([, name]) => name)
  expect(names).toEqual(['production', 'e', 'd', 'c', 'b'])
  expect(html).toContain(`<a href="/projects/${projectId}/aliases">All 6</a>`)
})

test('the overview shows two weeks of visits to people who may see them', async () => {
  expect(await read(at())).toContain('0 views and 0 visitors in two weeks')
  expect(await read(at(), contributor)).not.toContain('in two weeks')
  const { projectId, aliasHost } = await seedDeployment(app, {
    ...SITE,
    repo: 'visited',
    isPublic: true,
    sha: FIRST_SHA,
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  await app.call('GET', '/', {
    host: aliasHost ?? '',
    headers: { 'user-agent': 'Mozilla/5.0 Firefox/145.0' },
  })
  expect(await read(`/projects/${projectId}`)).toContain('1 view and 1 visitor in two weeks')
})

describe('deployments', () => {
  const filters: [query: string, shown: string[]][] = [
    ['', [FIRST_SHA, SECOND_SHA]],
    ['?branch=main', [FIRST_SHA]],
    ['?commitSha=c0ffee1', [SECOND_SHA]],
    ['?alias=production', [SECOND_SHA]],
    ['?branch=none', []],
  ]
  test.each(filters)('are filtered by %p', async (query, shown) => {
    const html = await read(at(`/deployments${query}`))
    const found = [FIRST_SHA, SECOND_SHA].filter((sha) => html.includes(`data-copy="${sha}"`))
    expect(found).toEqual(shown)
  })

  test('one shows the differences from what its alias showed before', async () => {
    const html = await read(deploymentAt())
    expect(html).toContain('2 added, 1 changed, 1 removed')
    for (const path of ['new.html', 'old.html', 'data.bin']) expect(html).toContain(`<code>${path}</code>`)
    expect(html).not.toContain('assets/a.css')
    expect(html).toMatch(/Since\s*<a href/)
  })

  test('one that is not live is compared with the one that is, which may be newer', async () => {
    const html = await read(at('/deployments/1'))
    expect(html).toMatch(/Compared with\s*<a [^>]*>.*<\/a>, which is live as production/)
  })

  test('one that is live cannot be deleted, and says so', async () => {
    const answer = await browser.submit(deploymentAt(), { intent: 'delete' }, { as: ADMIN })
    expect(answer.status).toBe(409)
    expect(await answer.text()).toContain('Move or delete the aliases that point at it first: production')
  })

  test('a contributor releases one but does not delete it', async () => {
    const answer = await browser.submit(deploymentAt(), { intent: 'delete' }, { as: contributor })
    expect(answer.status).toBe(403)
    const html = await read(deploymentAt(), contributor)
    expect(html).toContain('New alias')
    expect(html).not.toContain('Delete this deployment')
  })

  test('a new alias is made from one, and its name is checked', async () => {
    const bad = await browser.submit(deploymentAt(), { intent: 'create-alias', name: 'a b' }, { as: ADMIN })
    expect(bad.status).toBe(400)
    expect(await bad.text()).toContain('id="name-error"')
    const good = await browser.submit(deploymentAt(), { intent: 'create-alias', name: 'demo' }, { as: ADMIN })
    expect(redirectOf(good)).toEqual([303, `${deploymentAt()}?done=created`])
    expect(await read(deploymentAt())).toContain('demo--website--acme.localhost')
  })
})

test('after a rejected archive the typed values are shown again, and no default alias', async () => {
  const form = new FormData()
  form.set('file', new File(['no zip'], 'site.zip'))
  form.set('alias', '')
  form.set('description', 'The new menu')
  form.set('basePath', '/dist')
  const sha = 'c'.repeat(40)
  const answer = await app.call('POST', at(`/publish?repository=acme/website&commitSha=${sha}`), {
    as: ADMIN,
    body: form,
    headers: { accept: 'text/html', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' },
  })
  const html = await answer.text()
  expect(answer.status).toBe(400)
  expect(html).toContain('value="The new menu"')
  expect(html).toContain('value="/dist"')
  expect(html).not.toContain('value="production"')
})

test("the browser tab's title names the project", async () => {
  expect(await read(aliasAt())).toContain('<title>production · website · svc</title>')
  expect(await read(at('/settings'))).toContain('<title>Settings · website · svc</title>')
})

const startPages: [files: Record<string, string>, basePath: string, hasHint: boolean][] = [
  [{ 'index.html': '' }, '', false],
  [{ 'website/index.html': '' }, '', true],
  [{ 'website/index.html': '' }, '/website', false],
]
test.each(startPages)(
  '%j below "%s": the hint that nothing is shown: %p',
  async (files, basePath, hasHint) => {
    const sha = app.ctx.newId().replaceAll('-', '')
    const { projectId, deploymentId } = await seedDeployment(app, { ...SITE, sha, files, basePath })
    const html = await readById(projectId, deploymentId)
    expect(html.includes('There is no index.html at the top level')).toBe(hasHint)
  },
)

describe('files', () => {
  const files = (path: string) => deploymentAt(`/files?path=${encodeURIComponent(path)}`)

  test('folders come first, and can be opened', async () => {
    const html = await read(deploymentAt('/files'))
    expect(html.indexOf('assets/')).toBeLessThan(html.indexOf('data.bin'))
    expect(await read(files('assets/'))).toContain('text/css')
  })

  test('are sorted by the numbers in their names', async () => {
    const photos = ['photo-1.svg', 'photo-2.svg', 'photo-10.svg']
    const { projectId, deploymentId } = await seedDeployment(app, {
      ...SITE,
      sha: app.ctx.newId().replaceAll('-', ''),
      files: Object.fromEntries(photos.map((name) => [name, 'x'])),
    })
    const html = await readById(projectId, deploymentId, '/files')
    expect([...html.matchAll(/photo-\d+\.svg(?=<)/g)].map(String)).toEqual(photos)
  })

  const contents: [path: string, shown: string[]][] = [
    ['index.html', ['&lt;h1>Two&lt;/h1>', 'text/html', 'private, max-age=0, must-revalidate']],
    ['data.bin', ['This is not a text file', `/repo/acme/website/${SECOND_SHA}/data.bin`]],
  ]
  test.each(contents)('%s is shown as its type', async (path, shown) => {
    // Code is coloured by spans around its words.
    const html = (await read(files(path))).replace(/<\/?span[^>]*>/g, '')
    for (const part of shown) expect(html).toContain(part)
  })

  test('a missing file is 404', async () => {
    expect((await browser.open(files('old.html'), { as: ADMIN })).status).toBe(404)
    expect(await read(files('nothing/'))).toContain('has no such folder')
  })
})

describe('aliases', () => {
  test('production is rolled back from the overview by those who may move it', async () => {
    const dialog = /aria-labelledby="roll-back-[^"]+-title"/
    const overview = await read(at(''), contributor)
    expect(overview).toMatch(dialog)
    expect(overview).toContain('>Roll back production</button>')
    expect(overview).toContain('>Roll back to #1</button>')
    const viewer = await seedMember(app, first.projectId, 'viewer')
    expect(await read(at(''), viewer)).not.toMatch(dialog)
  })

  test('roll back after a confirmation that shows the differences', async () => {
    const question = await read(aliasAt(`/move?to=${first.deploymentId}`), contributor)
    expect(question).toContain('Roll production back?')
    expect(question).toContain('1 added, 1 changed, 2 removed')
    const fields = { intent: 'move', deploymentId: first.deploymentId }
    const answer = await browser.submit(aliasAt('/move'), fields, { as: contributor })
    expect(redirectOf(answer)).toEqual([303, `${aliasAt()}?done=moved`])
    const alias = await app.call('GET', `/api/aliases?projectId=${first.projectId}&name=production`, {
      as: ADMIN,
    })
    expect((await alias.json()).data[0].commitSha).toBe(FIRST_SHA)
    expect(await read(aliasAt())).toContain('Move to #2')
  })

  test('a contributor cannot move a locked one', async () => {
    const settings = {
      intent: 'settings',
      isPublic: 'true',
      requiredRole: 'viewer',
      isSpa: '',
      isLocked: 'true',
    }
    expect((await browser.submit(aliasAt(), settings, { as: contributor })).status).toBe(403)
    expect(redirectOf(await browser.submit(aliasAt(), settings, { as: ADMIN }))[0]).toBe(303)
    const html = await read(aliasAt())
    expect(html).toMatch(/<option selected value="true"|<option value="true" selected/)
    expect(html).toContain('Locked')
    const fields = { intent: 'move', deploymentId: second.deploymentId }
    const refused = await browser.submit(aliasAt('/move'), fields, { as: contributor })
    expect(refused.status).toBe(409)
    expect(await refused.text()).toContain('The alias production is locked')
  })

  test('are created from a short commit, and invalid ones are refused in place', async () => {
    const make = (deployment: string) =>
      browser.submit(at('/aliases'), { intent: 'create', name: 'stage', deployment }, { as: contributor })
    for (const [sha, status, said] of [
      ['zz', 400, 'id="deployment-error"'],
      ['ddddddd', 404, 'has no deployment of the commit ddddddd'],
    ] as const) {
      const answer = await make(sha)
      expect(answer.status).toBe(status)
      expect(await answer.text()).toContain(said)
    }
    const bad = await browser.submit(
      at('/aliases'),
      { intent: 'create', name: 'a b', deployment: 'zz' },
      { as: ADMIN },
    )
    expect((await bad.text()).match(/id="(name|deployment)-error"/g)).toHaveLength(2)
    expect((await make('c0ffee1')).status).toBe(303)
  })

  test('are deleted', async () => {
    const gone = await browser.submit(aliasAt(), { intent: 'delete', confirm: 'production' }, { as: ADMIN })
    expect(redirectOf(gone)).toEqual([303, `${at('/aliases')}?done=deleted`])
    expect((await browser.open(aliasAt(), { as: ADMIN })).status).toBe(404)
  })
})

describe('publishing', () => {
  /** One stored file `index.html` holding `hi`. */
  const ZIP =
    'UEsDBAoAAAAAAAAAIQCsKpPYAgAAAAIAAAAKAAAAaW5kZXguaHRtbGhpUEsBAhQACgAAAAAAAAAhAKwqk9gCAAAAAgAAAAoAAAAAAAAAAAAAAAAAAAAAAGluZGV4Lmh0bWxQSwUGAAAAAAEAAQA4AAAAKgAAAAAA'

  /** The same in the folder `site`. */
  const NESTED_ZIP = new Uint8Array(zip({ 'site/index.html': 'hi' }))

  function upload(
    as: string,
    address: string,
    zip: Uint8Array<ArrayBuffer>,
    basePath = '',
  ): Promise<Response> {
    const form = new FormData()
    form.set('file', new File([zip], 'site.zip', { type: 'application/zip' }))
    form.set('alias', 'live')
    form.set('description', 'By hand')
    form.set('basePath', basePath)
    return app.call('POST', address, {
      as,
      body: form,
      headers: { accept: 'text/html', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' },
    })
  }
  const addressIn = (html: string) =>
    html.match(/action="([^"]*\/publish[^"]*)"/)?.[1]?.replaceAll('&amp;', '&') ?? ''

  test('a zip from the form becomes a deployment', async () => {
    const address = addressIn(await read(at('/publish'), contributor))
    const [status, location] = redirectOf(await upload(contributor, address, Buffer.from(ZIP, 'base64')))
    expect([status, String(location)]).toEqual([
      303,
      expect.stringMatching(/\/publish\?published=[0-9a-f-]+$/),
    ])
    const html = await read(String(location), contributor)
    expect(html).toContain('>Published</h2>')
    expect(html).toContain('By hand')
    expect(html).toContain('live--website--acme.localhost')
  })

  test('a zip with everything in one folder is published without it, unless a folder is named', async () => {
    for (const [basePath, isUnwrapped] of [
      ['', true],
      ['/site', false],
    ] as const) {
      const sent = upload(contributor, addressIn(await read(at('/publish'))), NESTED_ZIP, basePath)
      const location = String(redirectOf(await sent)[1])
      expect(location.endsWith('&unwrapped=true')).toBe(isUnwrapped)
      expect((await read(location, contributor)).includes('which was taken away')).toBe(isUnwrapped)
    }
  })

  test('the form knows which aliases show a start page', async () => {
    await upload(contributor, addressIn(await read(at('/publish'))), Buffer.from(ZIP, 'base64'))
    expect(await read(at('/publish'), contributor)).toMatch(
      /data-shows="[^"]*&quot;live&quot;:\{[^}]*&quot;hasStartPage&quot;:true/,
    )
  })

  test('each form has its own commit', async () => {
    expect(addressIn(await read(at('/publish')))).not.toBe(addressIn(await read(at('/publish'))))
  })

  test('a file that is not a zip is refused on the page', async () => {
    const answer = await upload(contributor, addressIn(await read(at('/publish'))), Buffer.from('no zip'))
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('role="alert"')
  })

  test('the address of the form does not give access to another project', async () => {
    const other = await seedDeployment(app, {
      owner: 'acme',
      repo: 'secret',
      sha: 'beef123',
      isPublic: false,
      files: { a: 'a' },
    })
    const address = addressIn(await read(at('/publish'), contributor)).replace('website', 'secret')
    expect((await upload(contributor, address, Buffer.from(ZIP, 'base64'))).status).toBe(404)
    expect((await browser.open(`/projects/${other.projectId}/publish`, { as: contributor })).status).toBe(404)
  })

  test('uploads of the form are limited, and its script knows the file limit', async () => {
    const strict = await testApp({ RATE_LIMIT_UPLOAD: '1', MAX_DEPLOYMENT_FILES: '20' })
    await strict.addUser(ADMIN, 'admin')
    const seeded = await seedDeployment(strict, { ...SITE, sha: FIRST_SHA, files: { a: 'a' } })
    const send = () =>
      strict.call('POST', `/projects/${seeded.projectId}/publish?repository=acme/website&commitSha=abcdef1`, {
        as: ADMIN,
        body: new FormData(),
        headers: { accept: 'text/html', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' },
      })
    expect((await send()).status).toBe(400)
    const refused = await send()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([
      429,
      expect.stringMatching(/^\d+$/),
    ])
    expect(await refused.text()).toContain('data-max-files="20"')
    strict.close()
  })
})
