import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { recordRun } from '../../src/modules/runs/service.ts'
import { ADMIN, redirectOf, withoutPageIds } from '../testing/browser.ts'
import { OF_REPOSITORY, type RulesApp, rulesApp } from './testing.ts'

let project: RulesApp
beforeAll(async () => {
  project = await rulesApp()
})
afterAll(() => project.app.close())
beforeEach(() => project.clear())

describe('the list', () => {
  test('explains rules when there are none, and its first form creates one', async () => {
    const html = await project.read(project.at())
    expect(html).toContain('No rules yet')
    expect(html).toContain('svc rules init guestbook')
    expect(html).toContain('export SVC_API_KEY=')
    const names = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)"/g)]
    const fields = Object.fromEntries(names.map(([, name = '', value = '']) => [name, value]))
    const answer = await project.submit('/new', {
      ...fields,
      pathPattern: '/api/*',
      targetUrl: 'https://a.example',
    })
    expect(answer.status).toBe(303)
    const { rules } = await project.json('GET', `/api/proxy-rules/project/${project.site.projectId}`)
    expect(rules[0]).toMatchObject({ proxyType: 'external_proxy', stripPrefix: true, isEnabled: true })
  })

  test('shows the rules for an alias in the order they are tried', async () => {
    await project.makeRule('/project')
    await project.push('everywhere', ['/live-set'], OF_REPOSITORY)
    await project.makeRule('/alias', {}, project.aliasId)
    const setId = await project.push('attached', ['/alias-set'])
    await project.json('PATCH', `/api/proxy-rule-sets/${setId}`, { aliases: ['production'] })
    await project.push('attached-pr-1', ['/preview'])
    const html = await project.read(project.at('?alias=production'))
    const places = ['/alias', '/alias-set', '/project', '/live-set'].map((path) =>
      html.indexOf(`<code>${path}</code>`),
    )
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(html).toContain('<strong>acme/site-rules</strong> in <code>rules/book</code>')
    expect(html).toContain('c0ffee123456')
    expect(html).toContain('attached-pr-1')
    expect(html).not.toContain('<code>/preview</code>')
    expect(withoutPageIds(html)).toBe(withoutPageIds(await project.read(project.at('?alias=production'))))
  })

  test('an unknown alias is 404', async () => {
    expect((await project.browser.open(project.at('?alias=nothing'), { as: ADMIN })).status).toBe(404)
  })

  const moves: [move: (ids: string[]) => Record<string, string>, expected: string[]][] = [
    [([a]) => ({ move: `down ${a}` }), ['/b', '/a', '/c']],
    [([, , c]) => ({ move: `up ${c}` }), ['/a', '/c', '/b']],
    [([a]) => ({ move: `up ${a}` }), ['/a', '/b', '/c']],
    [([, , c]) => ({ move: `down ${c}` }), ['/a', '/b', '/c']],
    [([a, b, c]) => ({ order: `${c},${a},${b}` }), ['/c', '/a', '/b']],
  ]
  test.each(moves)('is reordered by %p', async (move, expected) => {
    const ids: string[] = []
    for (const path of ['/a', '/b', '/c']) ids.push((await project.makeRule(path)).id)
    await project.push('book', ['/set'])
    const answer = await project.submit(
      '',
      { intent: 'reorder', aliasId: '', ...move(ids) },
      project.contributor,
    )
    expect(redirectOf(answer)).toEqual([303, project.at('?done=ordered')])
    expect(await project.order()).toEqual([...expected, '/set'])
  })

  const wrongMoves: [fields: (id: string) => Record<string, string>, status: number][] = [
    [() => ({ move: 'up 01a1f95d' }), 400],
    [(id) => ({ move: `sideways ${id}` }), 400],
    [(id) => ({ order: id }), 400],
    [(id) => ({ order: `${id},${id}` }), 400],
    [(id) => ({ move: `up ${id}`, aliasId: '01a1f95d-adc8-7540-85f5-eb591f10b29b' }), 404],
  ]
  test.each(wrongMoves)('is not changed by %p', async (fields, status) => {
    const { id: first } = await project.makeRule('/a')
    await project.makeRule('/b')
    const answer = await project.submit('', { intent: 'reorder', aliasId: '', ...fields(first) })
    expect(answer.status).toBe(status)
    expect(await project.order()).toEqual(['/a', '/b'])
  })

  test('the rules of an alias have an order of their own', async () => {
    const make = (path: string) => project.makeRule(path, {}, project.aliasId)
    await make('/x')
    const { id } = await make('/y')
    await project.submit('', { intent: 'reorder', aliasId: project.aliasId, move: `up ${id}` })
    expect(await project.order(project.aliasId)).toEqual(['/y', '/x'])
  })

  test('sets are attached to an alias, reordered and detached', async () => {
    const [one, two] = [await project.push('one', ['/1']), await project.push('two', ['/2'])]
    const send = (fields: Record<string, string>) =>
      project.submit('', { intent: 'sets', aliasId: project.aliasId, ...fields }, project.contributor)
    const tried = () => project.order(project.aliasId)
    expect(redirectOf(await send({ attach: one }))).toEqual([303, project.at('?alias=production&done=sets')])
    await send({ attach: two })
    expect(await tried()).toEqual(['/1', '/2'])
    await send({ move: `up ${two}` })
    expect(await tried()).toEqual(['/2', '/1'])
    await send({ detach: two })
    expect(await tried()).toEqual(['/1'])
    expect(await project.order()).toEqual([])
    // For a second click the work is already done.
    expect((await send({ attach: one })).status).toBe(303)
    expect(await tried()).toEqual(['/1'])
    expect((await send({ attach: 'nothing' })).status).toBe(400)
  })
})

describe('the run log', () => {
  const run = (status: number, path: string, ruleId = 'gone') =>
    recordRun(project.app.ctx, {
      ...{
        projectId: project.site.projectId,
        ruleId,
        ruleName: 'Contact',
        phase: 'steps',
        pathPattern: '/api/*',
      },
      ...{
        method: 'POST',
        path,
        status,
        durationMs: 3,
        failedStep: status < 400 ? null : 'form',
        error: null,
      },
      steps: JSON.stringify([
        {
          id: 'form',
          handler: 'form_handler',
          durationMs: 1,
          skipped: false,
          input: {},
          output: '[redacted]',
          error: null,
        },
      ]),
      startedAt: project.app.ctx.now(),
    })

  test('is filtered by outcome and by rule, and leads to each run', async () => {
    const { id } = await project.makeRule('/api/*')
    run(200, '/good', id)
    run(404, '/not-there')
    run(500, '/broken')
    const shown = async (query: string) => {
      const html = await project.read(project.at(`/runs${query}`))
      return ['/good', '/not-there', '/broken'].filter((path) => html.includes(`<code>${path}</code>`))
    }
    expect(await shown('')).toEqual(['/good', '/not-there', '/broken'])
    expect(await shown('?outcome=answered')).toEqual(['/good'])
    expect(await shown('?outcome=refused')).toEqual(['/not-there'])
    expect(await shown('?outcome=failed')).toEqual(['/broken'])
    expect(await shown('?outcome=nonsense')).toHaveLength(3)
    expect(await shown(`?rule=${id}`)).toEqual(['/good'])
    const html = await project.read(project.at(`/runs?rule=${id}`))
    const [, runId] = /rules\/runs\/([^"]+)"/.exec(html) ?? []
    const detail = await project.read(project.at(`/runs/${runId}`))
    expect(detail).toContain('[redacted]')
    expect(detail).toContain(`href="${project.at(`/${id}`)}"`)
  })

  test('an unknown run is 404', async () => {
    expect((await project.browser.open(project.at('/runs/nothing'), { as: ADMIN })).status).toBe(404)
  })
})
