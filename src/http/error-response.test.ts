import { expect, test } from 'bun:test'
import { t } from 'elysia'
import { testApp } from '../testing/test-app.ts'
import { expectation } from './expectation.ts'

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

test.each<[schema: object, message: string, expected: string]>([
  [t.Boolean(), 'Expected boolean', 'Must be true or false'],
  [t.String(), 'Expected required property', 'Must be a text'],
  [t.Object({ a: t.String(), b: t.String() }), 'Expected object', 'Must be an object with a, b'],
  [t.Union([t.String(), t.Null()]), 'Expected union value', 'Must be a text or null'],
  [t.Union([t.Literal('asc'), t.Literal('desc')]), 'Expected union value', 'Must be asc or desc'],
  [t.String({ error: 'A name' }), 'Expected string', 'A name'],
  [
    t.String({ minLength: 2 }),
    'Expected string length greater or equal to 2',
    'Expected string length greater or equal to 2',
  ],
])('%j: %s reads %s', (schema, message, expected) => {
  expect(expectation(schema, message)).toBe(expected)
})
