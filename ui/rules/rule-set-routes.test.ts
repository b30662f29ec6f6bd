import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { ADMIN, redirectOf } from '../testing/browser.ts'
import { OF_REPOSITORY, RULE_FORM, type RulesApp, rulesApp } from './testing.ts'

let project: RulesApp
beforeAll(async () => {
  project = await rulesApp()
})
afterAll(() => project.app.close())
beforeEach(() => project.clear())

describe('a rule of the repository', () => {
  const seedSet = async () => {
    const setId = await project.push('book', ['/api/book'], OF_REPOSITORY)
    const { rules } = await project.json('GET', `/api/proxy-rule-sets/${setId}`)
    return { setId, id: rules[0].id as string }
  }

  test('is read-only until the person unlocks it', async () => {
    const { id } = await seedSet()
    const html = await project.read(project.at(`/${id}`))
    expect(html).toContain('Managed by the repository')
    expect(html).not.toContain('Delete this rule')
    const edit = await project.browser.open(project.at(`/${id}/edit`), { as: ADMIN })
    expect(redirectOf(edit)).toEqual([303, project.at(`/${id}`)])
    for (const [rest, fields] of [
      ['', { intent: 'switch', isEnabled: 'false' }],
      ['', { intent: 'delete' }],
      ['/edit', { ...RULE_FORM }],
    ] as const) {
      const answer = await project.submit(`/${id}${rest}`, fields)
      expect(answer.status).toBe(409)
      expect(await answer.text()).toContain('Unlock it first.')
    }
    const unlocked = await project.submit(`/${id}`, { intent: 'unlock' })
    expect(redirectOf(unlocked)).toEqual([303, project.at(`/${id}?unlocked=true&done=unlocked`)])
    expect(await project.read(project.at(`/${id}?unlocked=true`))).toContain('Delete this rule')
    expect(await project.read(project.at(`/${id}/edit?unlocked=true`))).toContain(
      'name="unlocked" value="true"',
    )
    const saved = await project.submit(`/${id}/edit`, { ...RULE_FORM, unlocked: 'true' })
    expect(redirectOf(saved)).toEqual([303, project.at(`/${id}?done=saved&unlocked=true`)])
    expect((await project.json('GET', `/api/proxy-rules/${id}`)).pathPattern).toBe('/api/*')
  })

  test('its set is rolled back, renamed and deleted', async () => {
    const { setId } = await seedSet()
    project.app.advance(1000)
    await project.push('book', ['/api/book', '/api/more'], OF_REPOSITORY)
    const html = await project.read(project.at(`/sets/${setId}`))
    expect(html).toContain('Every site of the project')
    const [, revisionId = ''] = /name="revisionId" value="([^"]+)"/.exec(html) ?? []
    const back = await project.submit(`/sets/${setId}`, { intent: 'rollback', revisionId })
    expect(redirectOf(back)).toEqual([303, project.at(`/sets/${setId}?done=rolled`)])
    expect(await project.order()).toEqual(['/api/book'])
    const named = { intent: 'settings', name: 'a,b', description: '', environment: '' }
    const refused = await project.submit(`/sets/${setId}`, named)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('id="name-error"')
    await project.submit(`/sets/${setId}`, { ...named, name: 'tome' })
    expect(await project.read(project.at(`/sets/${setId}`))).toContain('<h1>tome</h1>')
    await project.json('PATCH', `/api/proxy-rule-sets/${setId}`, { aliases: ['production'] })
    expect((await project.submit(`/sets/${setId}`, { intent: 'delete' })).status).toBe(409)
    await project.json('PATCH', `/api/proxy-rule-sets/${setId}`, { aliases: [] })
    await project.submit(`/sets/${setId}`, { intent: 'everywhere' })
    expect(await project.order()).toEqual(['/api/book'])
    expect(redirectOf(await project.submit(`/sets/${setId}`, { intent: 'delete' }))).toEqual([
      303,
      project.at('?done=set-deleted'),
    ])
  })

  test('its revisions name their schedules, and a rollback says how many come back', async () => {
    const rule = { pathPattern: '/api/tick', method: 'POST', pipelineConfig: { steps: [] } }
    const schedules = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
      name,
      cron: '@daily',
      rule: 'POST /api/tick',
    }))
    const setId = await project.push('ticks', [], { rules: [rule], schedules })
    project.app.advance(1000)
    await project.push('ticks', [], { rules: [rule], schedules: [] })
    const html = await project.read(project.at(`/sets/${setId}`))
    expect(html).toContain('a, b, c and 2 more')
    expect(html).toContain('Its rules become the 1 of that revision immediately, and its schedules the 5.')
  })
})
