import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp, step } from '../testing/pipeline-app.ts'
import { sandboxFor } from './sandbox/sandbox-for.ts'

let app: PipelineApp
beforeEach(async () => {
  app = await pipelineApp({ SANDBOX_PROCESSES: '8' })
})
afterEach(() => {
  sandboxFor(app.ctx).close()
  app.close()
})

const fn = (body: string) =>
  step('f', 'function_handler', { code: `const handler = () => { ${body} }`, timeout: 30_000 })
const endless = [fn('for (;;);')]
const quick = [fn('return 1')]
const done = { status: 200, body: { success: true, data: 1 } }
const busy = { status: 503, body: { error: 'SANDBOX_BUSY', step: 'f' } }

test('the endless functions of one person, however many projects they have, keep nobody waiting', async () => {
  const ben = await app.addUser('ben@example.com')
  const hers = Array.from({ length: 8 }, (_, i) => app.addProject(`hers-${i}`))
  const his = app.addProject('his')
  app.ctx.db.sqlite.run('INSERT INTO ownership_transfers VALUES (?, ?, ?)', [his, ben, 0])
  app.ctx.db.writes += 1
  const running = hers.flatMap((projectId) => [
    app.answer(endless, { projectId }),
    app.answer(endless, { projectId }),
  ])
  expect(await app.answer(quick, { projectId: his })).toEqual(done)
  sandboxFor(app.ctx).close()
  const ended = await Promise.all(running)
  // Four were running when the sandbox ended; the rest had waited for them.
  expect(ended.filter(({ status }) => status === 500)).toHaveLength(4)
  expect(ended.filter(({ status }) => status === 503)).toHaveLength(12)
})

test('who cannot be served is told to come again', async () => {
  sandboxFor(app.ctx).close()
  const answer = await app.run(quick)
  expect(answer.headers.get('retry-after')).toBe('10')
  expect({ status: answer.status, body: await answer.json() }).toMatchObject(busy)
  const pattern = step('f', 'form_handler', { fields: { a: { type: 'string', pattern: '(a+)+$' } } })
  expect(await app.answer([pattern], { json: { a: 'a'.repeat(40) } })).toMatchObject(busy)
})
