import { expect, test } from 'bun:test'
import { testApp } from '../testing/test-app.ts'

test('one problem is reported per field, and the first one is the message', async () => {
  const app = await testApp()
  await app.addUser('ann@example.com')
  const answer = await app.call('POST', '/api/projects', { as: 'ann@example.com', json: { owner: 5 } })
  const body = (await answer.json()) as { message: string; details: { path: string; message: string }[] }
  expect(answer.status).toBe(400)
  expect(body.details.map(({ path }) => path)).toEqual([...new Set(body.details.map(({ path }) => path))])
  expect(body.details.map(({ path }) => path).sort()).toEqual(['name', 'owner'])
  expect(body.message).toBe(`${body.details[0]?.path}: ${body.details[0]?.message}`)
  await app.close()
})
