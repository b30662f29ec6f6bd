import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { deleteProject } from '../modules/projects/service.ts'
import { type PipelineApp, pipelineApp, step } from '../testing/pipeline-app.ts'
import { resumePostSteps } from './post-steps.ts'
import { waitForWork } from './track-work.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const respond = (body: unknown, more = {}) => step('r', 'response_handler', { body }, more)

describe('post steps', () => {
  const queued = () =>
    app.ctx.db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM post_steps').get()?.n

  test('run after the response, see the outputs, and run even if others fail', async () => {
    const id = app.addSchema('log', [{ name: 'what', type: 'string' }])
    const late = (name: string, what: string) => step(name, 'data_create', { schemaId: id, fields: { what } })
    const postSteps = [
      late('p1', 'steps.form.x'),
      step('p2', 'email_handler', { to: "'a@x.ch'", subject: 's', body: 'b' }),
      late('p3', 'steps.p1.id'),
    ]
    const steps = [
      step('form', 'form_handler', { fields: { x: { type: 'string' } } }),
      respond('{"ok":true}'),
    ]
    const answer = await app.run({ steps, postSteps }, { json: { x: 'X' } })
    expect(app.stored(id)).toEqual([])
    expect(queued()).toBe(1)
    expect(await answer.json()).toEqual({ ok: true })
    await new Promise((resolve) => setImmediate(resolve))
    await waitForWork(app.ctx, 5000)
    expect(app.stored(id).map(({ what }) => what)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), 'X'])
    expect(queued()).toBe(0)
    expect(app.lines.join('')).toContain('a post step failed')
  })

  test('have the parsed body but never its raw text, also when resumed', async () => {
    const id = app.addSchema('raw', [
      { name: 'raw', type: 'string' },
      { name: 'a', type: 'number' },
    ])
    const fields = { raw: 'request.rawBody', a: 'request.body.a' }
    const postSteps = [step('p1', 'data_create', { schemaId: id, fields })]
    await app.run({ steps: [respond('{"ok":true}')], postSteps }, { json: { a: 1 } })
    app.ctx.db.sqlite.run(
      `INSERT INTO post_steps (id, project_id, work, attempts, created_at)
        SELECT 'left raw', project_id, work, 0, created_at FROM post_steps`,
    )
    await resumePostSteps(app.ctx)
    await waitForWork(app.ctx, 5000)
    expect(app.stored(id).map(({ raw, a }) => [raw, a])).toEqual([
      [null, 1],
      [null, 1],
    ])
  })

  test('run once, even while leftover work of an earlier server is resumed', async () => {
    const id = app.addSchema('once', [{ name: 'what', type: 'string' }])
    const postSteps = [step('p1', 'data_create', { schemaId: id, fields: { what: "'done'" } })]
    await app.run({ steps: [respond('{"ok":true}')], postSteps })
    app.ctx.db.sqlite.run(
      `INSERT INTO post_steps (id, project_id, work, attempts, created_at)
        SELECT 'left', project_id, replace(work, 'done', 'left'), 0, created_at FROM post_steps`,
    )
    await resumePostSteps(app.ctx)
    await waitForWork(app.ctx, 5000)
    const what = app.stored(id).map((record) => record['what'])
    expect([what.sort(), queued()]).toEqual([['done', 'left'], 0])
  })

  test('that crashed the server three times are given up', async () => {
    const id = app.addSchema('poison', [{ name: 'what', type: 'string' }])
    const postSteps = [step('p1', 'data_create', { schemaId: id, fields: { what: "'done'" } })]
    await app.run({ steps: [respond('{"ok":true}')], postSteps })
    for (const attempts of [2, 3])
      app.ctx.db.sqlite.run(
        `INSERT INTO post_steps (id, project_id, work, attempts, created_at)
          SELECT 'tried-${attempts}', project_id, replace(work, 'done', 'tried ${attempts}'), ${attempts}, created_at
          FROM post_steps WHERE attempts = 0`,
      )
    await resumePostSteps(app.ctx)
    await waitForWork(app.ctx, 5000)
    const what = app.stored(id).map((record) => record['what'])
    expect([what.sort(), queued()]).toEqual([['done', 'tried 2'], 0])
    expect(app.lines.join('')).toContain('gave up post steps')
  })

  test('of a project that is being deleted are not resumed', async () => {
    const gone = await pipelineApp()
    const { sqlite } = gone.ctx.db
    const work = '{"rule":{},"input":{},"outputs":{}}'
    sqlite.query("INSERT INTO post_steps VALUES ('left', ?, ?, 0, 0)").run(gone.projectId, work)
    sqlite.run("CREATE TRIGGER crash BEFORE DELETE ON post_steps BEGIN SELECT RAISE(ABORT, 'crash'); END")
    await deleteProject(gone.ctx, operatorGrant(gone.projectId))
    await resumePostSteps(gone.ctx)
    expect(sqlite.query('SELECT attempts FROM post_steps').values()).toEqual([[0]])
    gone.close()
  })

  test('are skipped when a step fails', async () => {
    const answer = await app.run({ steps: [step('x', 'teleport')], postSteps: [respond('{}')] })
    expect([answer.status, queued()]).toEqual([501, 0])
  })
})
