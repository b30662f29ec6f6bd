import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { type RulesApp, rulesApp } from './testing.ts'

let project: RulesApp
beforeAll(async () => {
  project = await rulesApp()
})
afterAll(() => project.app.close())
beforeEach(() => project.clear())

describe('a test', () => {
  const ask = (fields: Record<string, string>) =>
    project.submit('/test', { path: '/', method: 'GET', ...fields })

  test('shows each decision, and links to the rule that matches', async () => {
    await project.makeRule('/other')
    const { id } = await project.makeRule('/api/*', { method: 'POST' })
    const html = await (await ask({ alias: project.aliasId, path: '/api/x', method: 'post' })).text()
    expect(html).toContain('/other (project): the path does not match')
    expect(html).toContain('it matches and takes the request')
    expect(html).toContain(`href="${project.at(`/${id}`)}"`)
    const other = await (await ask({ alias: project.aliasId, path: '/api/x' })).text()
    expect(other).toContain('it is for another method')
  })

  test('is filled in for a rule', async () => {
    const { id } = await project.makeRule('/api/*', { method: 'POST' })
    const html = await project.read(project.at(`/test?rule=${id}`))
    expect(html).toContain('value="/api/example"')
    expect(html).toContain('value="POST"')
  })

  test('accepts another host, headers and a visitor', async () => {
    const host = `${project.site.host}`
    const html = await (await ask({ host, as: 'me', headers: 'accept: application/json\r\nx-a: b' })).text()
    expect(html).toContain(`${project.site.host} shows a deployment by its SHA`)
  })

  const refused: [fields: Record<string, string>, field: string][] = [
    [{ path: 'api' }, 'path'],
    [{ method: 'G T' }, 'method'],
    [{ host: 'elsewhere.example.com' }, 'host'],
    [{ host: 'a b' }, 'host'],
    [{ headers: 'no colon' }, 'headers'],
    [{ headers: 'b@d name: x' }, 'headers'],
    [{ alias: '' }, 'alias'],
  ]
  test.each(refused)('with %p is refused beside %s', async (fields, field) => {
    const answer = await ask({ alias: project.aliasId, ...fields })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(`id="${field}-error"`)
  })

  test('for a site of another project reveals nothing', async () => {
    const other = await seedDeployment(project.app, {
      owner: 'secret',
      repo: 'plans',
      sha: 'beef123456789012',
      alias: 'production',
      isPublic: false,
      files: { 'index.html': 'x' },
    })
    const answer = await project.submit(
      '/test',
      { path: '/', method: 'GET', host: other.aliasHost ?? '' },
      project.contributor,
    )
    expect(answer.status).toBe(400)
    expect(await answer.text()).not.toContain('secret/plans')
    const crossed = await project.submit(
      '/test',
      { path: '/', method: 'GET', alias: other.aliasId ?? '' },
      project.contributor,
    )
    expect(crossed.status).toBe(404)
  })
})
