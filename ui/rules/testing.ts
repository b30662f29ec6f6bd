import { seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { testApp } from '../../src/testing/test-app.ts'
import { ADMIN, browserOf } from '../testing/browser.ts'

export type RulesApp = Awaited<ReturnType<typeof rulesApp>>

/** A project with a site, and helpers for its rules, by API and by page. Paths are below the rules page. */
export async function rulesApp() {
  const app = await testApp()
  const browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'website',
    sha: 'a1b2c3d4e5f60718',
    alias: 'production',
    files: { 'index.html': '<h1>One</h1>' },
  })
  const at = (rest = '') => `/projects/${site.projectId}/rules${rest}`

  const json = async (method: string, path: string, body?: unknown) => {
    const answer = await app.call(method, path, { as: ADMIN, ...(body === undefined ? {} : { json: body }) })
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
    return answer.json()
  }
  const levelOf = (aliasId?: string) =>
    `/api/proxy-rules/${aliasId === undefined ? `project/${site.projectId}` : `alias/${aliasId}`}`

  return {
    app,
    browser,
    site,
    aliasId: site.aliasId ?? '',
    contributor: await seedMember(app, site.projectId, 'contributor'),
    at,
    json,
    /** Opens a page, which must exist. */
    async read(path: string, as = ADMIN): Promise<string> {
      const answer = await browser.open(path, { as })
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
      return answer.text()
    },
    submit: (rest: string, fields: Record<string, string>, as = ADMIN) =>
      browser.submit(at(rest), fields, { as }),
    /** Adds a rule, to an alias if one is given. */
    makeRule: (pathPattern: string, more = {}, aliasId?: string) =>
      json('POST', levelOf(aliasId), { ...rewriteTo(pathPattern), ...more }),
    /** Pushes a rule set and returns its id. */
    push: async (name: string, patterns: string[], more = {}): Promise<string> =>
      (
        await json('PUT', `/api/proxy-rule-sets/project/${site.projectId}/sync`, {
          ruleSet: { name },
          rules: patterns.map(rewriteTo),
          options: { prune: true },
          ...more,
        })
      ).ruleSetId,
    /** The rules tried for the project, or for one alias. */
    order: async (aliasId?: string): Promise<string[]> =>
      (await json('GET', levelOf(aliasId))).rules.map(
        ({ pathPattern }: { pathPattern: string }) => pathPattern,
      ),
    /** Deletes all rules and sets. */
    clear() {
      for (const table of ['rule_set_aliases', 'rule_sets', 'proxy_rules'])
        app.ctx.db.sqlite.run(`DELETE FROM ${table}`)
    },
  }
}

const rewriteTo = (pathPattern: string) => ({
  pathPattern,
  proxyType: 'internal_rewrite',
  targetUrl: '/index.html',
})

/** The source that a push reports. */
export const OF_REPOSITORY = {
  source: { repo: 'acme/site-rules', gitSha: 'c0ffee1234567890', path: 'rules/book' },
}

/** A rule form with only the required fields filled in. */
export const RULE_FORM = {
  intent: 'save',
  pathPattern: '/api/*',
  proxyType: 'external_proxy',
  targetUrl: 'https://api.example.com',
  isEnabled: 'true',
}
