import { expect, test } from 'bun:test'
import { cookieHeader, PASSWORD, testApp } from '../../../testing/test-app.ts'

const ANN = 'ann@example.com'

test('a replaced token next to a good one of the same person is not theft: browsers may have both', async () => {
  const app = await testApp()
  await app.addUser(ANN)
  const post = (path: string, cookie: string, json?: unknown) =>
    app.call('POST', `/api/auth/${path}`, { headers: { cookie }, json })
  const refreshOf = (answer: Response) =>
    cookieHeader(answer)
      .split('; ')
      .filter((pair) => pair.startsWith('sIdRefreshToken='))
      .join()
  const old = refreshOf(await post('signin', '', { email: ANN, password: PASSWORD }))
  const good = refreshOf(await post('refresh', old))
  app.advance(60_001)
  const both = await post('refresh', `${old}; ${good}`)
  expect(both.status).toBe(200)
  expect((await post('refresh', refreshOf(both))).status).toBe(200)
  app.close()
})
