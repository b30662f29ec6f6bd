import { inTransaction } from '../db/open.ts'
import { apiKeys, permissions } from '../db/schema.ts'
import type { ProjectRole } from '../domain/roles.ts'
import { hashToken } from '../platform/tokens.ts'
import type { TestApp } from './test-app.ts'

/** Creates an account with the role on the project: `<role>@example.com`. Returns its email. */
export async function seedMember(
  app: TestApp,
  projectId: string,
  role: Exclude<ProjectRole, 'owner'>,
): Promise<string> {
  const email = `${role}@example.com`
  const userId = await app.addUser(email, 'member')
  inTransaction(app.ctx.db, (tx) => {
    tx.insert(permissions).values({ projectId, userId, role, grantedAt: app.ctx.now() }).run()
  })
  return email
}

/** Creates an API key for the project, or a global one. */
export function seedKey(app: TestApp, projectId: string | null, name = 'ci'): string {
  const { ctx } = app
  const key = `svc_${Bun.SHA256.hash(`${projectId} ${name}`, 'hex').slice(0, 43)}`
  inTransaction(ctx.db, (tx) => {
    tx.insert(apiKeys)
      .values({
        id: ctx.newId(),
        name,
        prefix: key.slice(0, 8),
        tokenHash: hashToken(key),
        projectId,
        isGlobal: projectId === null,
        createdAt: ctx.now(),
      })
      .run()
  })
  return key
}
