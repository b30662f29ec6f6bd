import { inTransaction } from '../db/open.ts'
import { sealPart } from '../modules/webhooks/sealed.ts'
import type { TestApp } from './test-app.ts'

/** A hook of the project and one of the workspace, each with a delivery. They are off, so that they are told nothing. */
export function addHooks(app: TestApp, projectId: string, repo: string) {
  const ofProject = addHook(app, projectId, repo)
  const ofWorkspace = addHook(app, null, repo)
  return {
    ...ofProject,
    workspaceHookId: ofWorkspace.hookId,
    workspaceDeliveryId: ofWorkspace.deliveryId,
  }
}

function addHook({ ctx }: TestApp, projectId: string | null, repo: string) {
  const hookId = ctx.newId()
  const deliveryId = ctx.newId()
  const body = JSON.stringify({ event: 'ping', data: { note: `secret of ${repo}` } })
  const run = (sql: string, ...values: (string | null)[]) => void ctx.db.sqlite.run(sql, values)
  inTransaction(ctx.db, () => {
    run(
      "INSERT INTO webhooks VALUES (?, ?, ?, 'json', '[\"*\"]', ?, '{}', ?, 0, NULL, 0, 0, 0)",
      hookId,
      projectId,
      `secret of ${repo}`,
      sealPart(ctx.secrets, hookId, 'url', `https://hooks.example/secret-of-${repo}`),
      sealPart(ctx.secrets, hookId, 'secret', 'whsec_0000000000000000'),
    )
    run(
      "INSERT INTO webhook_events (event, project_id, body, created_at) VALUES ('ping', ?, ?, 0)",
      projectId,
      body,
    )
    run(
      `INSERT INTO webhook_deliveries (id, hook_id, event_id, status, tries, tries_left, created_at)
       VALUES (?, ?, (SELECT max(id) FROM webhook_events), 'failed', '[]', 0, 0)`,
      deliveryId,
      hookId,
    )
  })
  return { hookId, deliveryId }
}
