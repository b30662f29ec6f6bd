import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const ROOT = 'root@example.com'
const SITE = 'production--docs--acme.localhost'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
})
afterAll(() => app.close())

type Situation = { gate: boolean; workspace: boolean; site: boolean }

async function set({ gate, workspace, site }: Situation): Promise<void> {
  const json = { requireProjectMembership: gate, allowPublicSignups: workspace }
  expect((await app.call('PATCH', '/api/settings', { as: ROOT, json })).status).toBe(200)
  app.ctx.db.sqlite.run('UPDATE projects SET allow_public_signup = ?', [site])
  app.ctx.db.writes += 1
}

const situations = [true, false].flatMap((gate) =>
  [true, false].flatMap((workspace) => [true, false].map((site) => ({ gate, workspace, site }))),
)
const paths: [path: string, host: string][] = [
  ['/api/auth/login-methods', 'localhost'],
  ['/api/auth/login-methods', SITE],
  ['/_svc/auth/login-methods', SITE],
]

/** contract 12.7. Some dialogs read `hasPassword`, `hasGoogle`, `workspace` and `project`. */
test.each(situations)('with %j', async (situation) => {
  await set(situation)
  for (const [path, host] of paths) {
    const { status, body } = await ask(app, 'GET', path, { host })
    const isGated = situation.gate && host === SITE
    const allowSignup = isGated ? situation.site : situation.workspace
    expect([status, body]).toEqual([
      200,
      {
        password: true,
        providers: [],
        allowSignup,
        hasPassword: true,
        hasGoogle: false,
        workspace: {
          hasPassword: true,
          hasGoogle: false,
          allowSignup: isGated ? true : situation.workspace,
        },
        ...(isGated ? { project: { allowSignup: situation.site } } : {}),
      },
    ])
    const { workspace, project } = body as { workspace: Offer; project?: Offer }
    expect(workspace.allowSignup && (project?.allowSignup ?? true)).toBe(allowSignup)
  }
})

type Offer = { allowSignup: boolean }
