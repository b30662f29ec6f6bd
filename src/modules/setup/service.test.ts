import { expect, test } from 'bun:test'
import { testApp } from '../../testing/test-app.ts'

test('of two concurrent set-ups, one makes the admin', async () => {
  const app = await testApp()
  const complete = (name: string) =>
    app.call('POST', '/api/setup/complete', {
      json: {
        email: `${name}@example.com`,
        password: 'correct horse battery',
        setupToken: 'test-setup-token',
      },
    })
  const answers = await Promise.all(['ann', 'bob', 'mallory'].map(complete))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toHaveLength(2)
  expect(app.ctx.db.sqlite.query('SELECT role FROM users').all()).toEqual([{ role: 'admin' }])
  app.close()
})
