import { runSql } from '../../testing/access-things.ts'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import type { RunView } from './model.ts'

export const ROOT = 'root@example.com'

/** A project whose deployments are made and removed as the global admin. */
export type RetentionApp = {
  app: TestApp
  projectId: string
  /** Publishes a new commit; returns the id of its deployment. */
  publish(files: Record<string, string>, alias?: string): Promise<string>
  /** Makes deployments without files, older than all others; quick. Returns their ids, the oldest first. */
  addEmpty(count: number): string[]
  call(method: string, rest: string, json?: unknown): ReturnType<typeof ask>
  run(order?: Record<string, unknown>): Promise<RunView>
  ids(): string[]
}

export const shaOf = (n: number): string => n.toString(16).padStart(40, '0')

export async function retentionApp(env: Record<string, string> = {}): Promise<RetentionApp> {
  const app = await testApp({ RETENTION_GRACE_MINUTES: '0', ...env })
  await app.addUser(ROOT, 'admin')
  const made = await ask(app, 'POST', '/api/projects', { as: ROOT, json: { owner: 'acme', name: 'docs' } })
  const projectId = String(made.body['id'])
  let commits = 0
  const call: RetentionApp['call'] = (method, rest, json) =>
    ask(app, method, `/api/projects/${projectId}${rest}`, {
      as: ROOT,
      ...(json === undefined ? {} : { json }),
    })
  return {
    app,
    projectId,
    call,
    async publish(files, alias) {
      app.advance(1000)
      const seed = { owner: 'acme', repo: 'docs', sha: shaOf(commits++), files }
      return (await seedDeployment(app, { ...seed, ...(alias === undefined ? {} : { alias }) })).deploymentId
    },
    addEmpty(count) {
      const ids = Array.from({ length: count }, () => app.ctx.newId())
      runSql(
        app,
        `INSERT INTO deployments (id, project_id, commit_sha, file_count, total_size, created_by, created_at, updated_at)
         SELECT value, ?1, printf('e%039d', key), 0, 0, 'operator', key + 1, key + 1 FROM json_each(?2)`,
        projectId,
        JSON.stringify(ids),
      )
      return ids
    },
    async run(order = {}) {
      const { status, body } = await call('POST', '/retention/run', order)
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body as unknown as RunView
    },
    ids: () =>
      app.ctx.db.sqlite
        .query<{ id: string }, [string]>(
          'SELECT id FROM deployments WHERE project_id = ? ORDER BY created_at',
        )
        .all(projectId)
        .map(({ id }) => id),
  }
}
