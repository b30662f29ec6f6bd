import { expect, signIn, siteTest as test, WITH_ADMIN } from './journey.ts'

const EVE = { email: 'eve@example.com', password: 'correct horse battery' }
const PAGE = {
  'index.html':
    '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Trap</title><h1>Kittens</h1>',
}

test.use({ env: { ...WITH_ADMIN, BASE_DOMAIN: 'svc.localhost' } })

test('a page of a hostile contributor, opened by a signed-in global admin, gets nowhere', async ({
  page,
  appliance,
  folder,
}) => {
  const { key } = await (
    await appliance.asAdmin('POST', '/api/api-keys', { name: 'ci', isGlobal: true })
  ).json()
  const deployed = await appliance.svc(
    [
      'deploy',
      folder(PAGE),
      '--api-url',
      appliance.url,
      '--project',
      'evil/kittens',
      '--alias',
      'production',
    ],
    { SVC_API_KEY: key },
  )
  expect(deployed).toMatchObject({ exitCode: 0 })
  const { projects } = await (await appliance.asAdmin('GET', '/api/projects')).json()
  const { id: eveId } = await (await appliance.asAdmin('POST', '/api/users', EVE)).json()

  await page.goto(`${appliance.url}/signin`)
  await signIn(page)
  await expect(page.getByRole('heading', { name: 'Projects', level: 1 })).toBeVisible()
  await page.goto(`${projects[0].url}/`)
  await expect(page.getByRole('heading', { name: 'Kittens' })).toBeVisible()

  const posted = page.waitForResponse((answer) => answer.url().includes('/admin/users/'))
  const found = await page.evaluate(
    async ({ admin, projectId, eve }) => {
      const status = (url: string, init: RequestInit = {}) =>
        fetch(url, { credentials: 'include', ...init }).then(
          (answer) => answer.status,
          () => 'blocked',
        )
      const json = (body: object): RequestInit => ({
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const frame = document.createElement('iframe')
      frame.name = 'trap'
      document.body.append(frame)
      const form = document.body.appendChild(document.createElement('form'))
      form.method = 'post'
      form.target = 'trap'
      form.action = `${admin}/admin/users/${eve}`
      form.innerHTML = '<input name="intent" value="role"><input name="role" value="admin">'
      form.submit()
      return {
        seesCookies: /sAccessToken|sIdRefreshToken/.test(document.cookie),
        readsUsersHere: await status('/api/users'),
        readsAccountHere: await status('/api/account'),
        grantsHere: await status(
          `/api/projects/${projectId}/permissions/users`,
          json({ userId: eve, role: 'admin' }),
        ),
        makesKeyHere: await status('/api/api-keys', json({ name: 'mine', isGlobal: true })),
        readsUsersThere: await status(`${admin}/api/users`),
        readsPageThere: await status(`${admin}/account`),
        grantsThere: await status(
          `${admin}/api/projects/${projectId}/permissions/users`,
          json({ userId: eve, role: 'admin' }),
        ),
        sendsBlindly: await status(`${admin}/api/users/${eve}/reset-link`, {
          method: 'POST',
          mode: 'no-cors',
          body: '{}',
        }),
      }
    },
    { admin: appliance.url, projectId: projects[0].id, eve: eveId },
  )
  expect(found).toEqual({
    seesCookies: false,
    readsUsersHere: 403,
    readsAccountHere: 403,
    grantsHere: 403,
    makesKeyHere: 403,
    readsUsersThere: 'blocked',
    readsPageThere: 'blocked',
    grantsThere: 'blocked',
    sendsBlindly: 0, // sent, but the response is hidden: the audit log below shows the result
  })

  expect((await posted).status()).toBe(403)
  // Until the response is shown, the frame is a blank page of the trap itself.
  const frame = () =>
    page.evaluate(() =>
      document.querySelector('iframe')?.contentDocument === null ? 'out of reach' : 'open',
    )
  await expect.poll(frame).toBe('out of reach')

  const { role } = await (await appliance.asAdmin('GET', `/api/users/${eveId}`)).json()
  expect(role).toBe('member')
  const { users } = await (
    await appliance.asAdmin('GET', `/api/projects/${projects[0].id}/permissions`)
  ).json()
  expect(users.map(({ email }: { email: string }) => email)).not.toContain(EVE.email)
  const { data } = await (await appliance.asAdmin('GET', '/api/audit?limit=100')).json()
  const actions = data.map(({ action }: { action: string }) => action)
  expect(actions).not.toContain('user.reset-link')
  expect(actions).not.toContain('user.change')
})
