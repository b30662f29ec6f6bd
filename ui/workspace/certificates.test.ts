import { afterEach, beforeEach, expect, test } from 'bun:test'
import { AppError } from '../../src/domain/errors.ts'
import { noCertificates } from '../../src/platform/certificates.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { withWildcard } from '../../src/testing/wildcard.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'

const PATH = '/admin/certificates'
const RETRY = { intent: 'retry-wildcard' }

let app: TestApp
let browser: Browser
beforeEach(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
})
afterEach(() => app.close())

const read = async (path = PATH) => (await browser.open(path, { as: ADMIN })).text()
const useAuto = () => Object.assign(app.ctx.config, { tls: 'auto' })

test('behind a proxy the page says what that one needs, and what svc could do itself', async () => {
  const html = await read()
  for (const said of ['At the proxy', '<code>*.localhost</code>', 'TLS=auto', 'ACME_DNS'])
    expect(html).toContain(said)
  expect(html).not.toContain('<table')
})

test('without a wildcard the page teaches how to get one', async () => {
  useAuto()
  app.ctx.certificates = {
    ...noCertificates,
    list: () => [
      {
        host: 'www.example.com',
        status: 'failed',
        expiresAt: null,
        error: 'CAA says <no>',
        method: 'http-01',
      },
    ],
  }
  const html = await read()
  for (const said of ['<dt>exec</dt>', '<dt>persist</dt>', 'www.example.com', 'CAA says &lt;no>'])
    expect(html).toContain(said)
  expect(html).not.toContain('retry-wildcard')
})

test('the record to set is there to copy, and a form tries again, with and without scripts', async () => {
  useAuto()
  app.ctx.certificates = withWildcard()
  const html = await read()
  for (const said of ['_acme-challenge.sites.test', 'a1.auth.test', 'Name of the CNAME record'])
    expect(html).toContain(said)
  expect(html).toContain('The record is not there')
  const answer = await browser.submit(PATH, RETRY, { as: ADMIN })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, `${PATH}?done=certified`])
  const after = await read(`${PATH}?done=certified`)
  expect(after).toContain('The certificate was issued.')
  expect(after).not.toContain('retry-wildcard')
  expect(after).toContain('The record that stays')
})

test('one that has to wait says so on the page', async () => {
  useAuto()
  app.ctx.certificates = withWildcard(async () => {
    throw new AppError('rate_limited', 'It was tried just now. Try again in 20 seconds.')
  })
  const answer = await browser.submit(PATH, RETRY, { as: ADMIN })
  expect([answer.status, await answer.text()]).toEqual([
    429,
    expect.stringContaining('It was tried just now. Try again in 20 seconds.'),
  ])
})

test('trying again without a wildcard is refused in place', async () => {
  const answer = await browser.submit(PATH, RETRY, { as: ADMIN })
  expect([answer.status, await answer.text()]).toEqual([
    409,
    expect.stringContaining('no wildcard certificate'),
  ])
})
