import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOperatorKey } from '../../modules/api-keys/service.ts'
import type { ServerSet } from '../../rules/compare.ts'
import { compileSet } from '../../rules/compile.ts'
import { layOutSet } from '../../rules/pull.ts'
import type { CompiledRule } from '../../rules/push.ts'
import { filesOf } from '../../rules/set-files.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const GOLDEN = join(import.meta.dir, '../../rules/golden')
const valid = readdirSync(GOLDEN)
  .map((name) => ({ name, text: readFileSync(join(GOLDEN, name), 'utf8').split(/^===\n/m)[1] ?? '' }))
  .filter(({ text }) => text.startsWith('{'))

const NONE = { created: [], updated: [], deleted: [], unchanged: [], pruneCandidates: [] }

let app: TestApp
let key: string
beforeAll(async () => {
  app = await testApp({}, { resolve: async () => ['93.184.216.34'] })
  key = createOperatorKey(app.ctx, { name: 'ci', repository: null })
})
afterAll(() => app.close())

test.each(valid)(
  'sync, sync, pull, sync of $name: only the first changes anything',
  async ({ name, text }) => {
    const repo = name.replace(/\W+/g, '-')
    const site = await seedDeployment(app, {
      owner: 'acme',
      repo,
      sha: 'a'.repeat(40),
      files: { 'index.html': 'hi' },
    })
    const sync = async (json: unknown) => {
      const path = `/api/proxy-rule-sets/project/${site.projectId}/sync`
      const answer = await app.call('PUT', path, { key, json })
      expect(answer.status).toBe(200)
      return answer.json()
    }
    const push = JSON.parse(text)
    const all = push.rules.map(({ pathPattern, method }: CompiledRule) => ({
      pathPattern,
      method: method ?? null,
    }))
    const same = {
      created: [],
      updated: [],
      deleted: [],
      unchanged: all,
      pruneCandidates: [],
      setCreated: false,
    }
    const first = await sync(push)
    const names = (push.schedules ?? []).map((one: { name: string }) => one.name)
    expect(first.schedules).toEqual({ ...NONE, created: names })
    expect(first).toMatchObject({ created: all, updated: [], unchanged: [], setCreated: true })
    expect(await sync(push)).toMatchObject(same)
    const exported = await app.call('GET', `/api/proxy-rule-sets/${first.ruleSetId}/export`, { key })
    const { texts, notes } = layOutSet((await exported.json()) as ServerSet)
    expect(notes).toEqual([])
    const again = await compileSet(filesOf('pulled', texts))
    expect(again.problems).toEqual([])
    const third = await sync({ ...again.push, options: { prune: true } })
    expect(third).toMatchObject(same)
    expect(third.schedules).toEqual({ ...NONE, unchanged: names })
    const { revisions } = await (
      await app.call('GET', `/api/proxy-rule-sets/${first.ruleSetId}/revisions`, { key })
    ).json()
    expect(revisions).toHaveLength(1)
  },
)
