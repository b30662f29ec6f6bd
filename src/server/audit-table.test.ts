import { afterAll, beforeAll, expect, test } from 'bun:test'
import { requestOf } from '../testing/access-request.ts'
import { ACCESS_TABLE, type Content } from '../testing/access-table.ts'
import { runSql } from '../testing/access-things.ts'
import { createWorld, type World } from '../testing/access-world.ts'
import { withWildcard } from '../testing/wildcard.ts'

/** Every change by the API leaves its entry in the audit log, and a call that changes nothing leaves none. */

const SHA = 'b'.repeat(40)
const deployed = { owner: 'acme', repo: 'docs', commitSha: SHA }
const rule = { pathPattern: '/api/*', targetUrl: 'https://api.example.com' }
const grantee = { userId: '{plain user id}', role: 'viewer' }

/** The changing routes that the world's global admin can call, with a body that is accepted. */
const CHANGES: [route: string, actions: string[], content?: Content][] = [
  ['POST /api/auth/signout', ['session.end']],
  ['POST /api/projects', ['project.create'], { json: { owner: 'acme', name: 'new' } }],
  ['PATCH /api/projects/:projectId', ['project.change'], { json: { displayName: 'New' } }],
  ['DELETE /api/projects/:projectId', ['project.delete']],
  [
    'POST /api/projects/:projectId/transfer-ownership',
    ['project.transfer'],
    { json: { userId: '{guest id}' } },
  ],
  ['POST /api/projects/:projectId/permissions/users', ['permission.grant'], { json: grantee }],
  ['DELETE /api/projects/:projectId/permissions/users/:guest id', ['permission.revoke']],
  [
    'POST /api/projects/:projectId/permissions/groups',
    ['permission.grant'],
    { json: { groupId: '{groupId}', role: 'guest' } },
  ],
  ['DELETE /api/projects/:projectId/permissions/groups/:groupId', ['permission.revoke']],
  ['DELETE /api/projects/:projectId/members/:guest id', ['member.remove']],
  [
    'POST /api/projects/:projectId/invitations',
    ['invitation.create'],
    { json: { email: 'new@example.com', role: 'guest' } },
  ],
  ['DELETE /api/projects/:projectId/invitations/:invitationId', ['invitation.revoke']],
  ['PUT /api/projects/:projectId/secrets/:secretName', ['secret.put'], { json: { value: 'x' } }],
  ['DELETE /api/projects/:projectId/secrets/:secretName', ['secret.delete']],
  [
    'POST /api/projects/:projectId/schedules',
    ['schedule.create'],
    { json: { name: 'new', cron: '@hourly', ruleId: '{pipelineId}' } },
  ],
  [
    'PATCH /api/projects/:projectId/schedules/:scheduleId',
    ['schedule.change'],
    { json: { isEnabled: false } },
  ],
  ['DELETE /api/projects/:projectId/schedules/:scheduleId', ['schedule.delete']],
  ['POST /api/projects/:projectId/schedules/:scheduleId/run', ['schedule.run']],
  ['POST /api/schemas', ['schema.create'], { json: { projectId: '{projectId}', name: 'more', fields: [] } }],
  ['PATCH /api/schemas/:schemaId', ['schema.change'], { json: { name: 'renamed' } }],
  ['DELETE /api/schemas/:schemaId', ['schema.delete']],
  ['POST /api/schemas/:schemaId/records', ['record.create'], { json: { note: 'x' } }],
  ['PATCH /api/schemas/:schemaId/records/:recordId', ['record.change'], { json: { note: 'x' } }],
  ['DELETE /api/schemas/:schemaId/records/:recordId', ['record.delete']],
  ['POST /api/users', ['user.create'], { json: { email: 'new@example.com' } }],
  ['PATCH /api/users/:plain user id', ['user.change'], { json: { role: 'admin' } }],
  ['DELETE /api/users/:plain user id', ['user.delete']],
  ['POST /api/users/:plain user id/reset-link', ['user.reset-link']],
  ['DELETE /api/users/:plain user id/sessions', ['user.end-sessions']],
  ['POST /api/users/:plain user id/suspend', ['user.suspend'], { json: { reason: 'left' } }],
  ['POST /api/users/:suspended admin id/unsuspend', ['api-key.unsuspend', 'user.unsuspend']],
  ['POST /api/groups', ['group.create'], { json: { name: 'New' } }],
  ['PATCH /api/groups/:groupId', ['group.change'], { json: { name: 'New' } }],
  ['DELETE /api/groups/:groupId', ['group.delete']],
  ['POST /api/groups/:groupId/members', ['group.add-member'], { json: { userId: '{guest id}' } }],
  ['DELETE /api/groups/:groupId/members/:non-member id', ['group.remove-member']],
  ['PATCH /api/account/notices', ['notice.change'], { json: { newDevice: false } }],
  ['PATCH /api/settings', ['settings.change'], { json: { allowPublicSignups: true } }],
  ['POST /api/api-keys', ['api-key.create'], { json: { name: 'x', isGlobal: true } }],
  ['DELETE /api/api-keys/:project key id', ['api-key.revoke']],
  [
    'POST /api/domains',
    ['domain.create'],
    { json: { projectId: '{projectId}', hostname: 'new.localhost', alias: 'production' } },
  ],
  ['PATCH /api/domains/:domainId', ['domain.change'], { json: { isSpa: true } }],
  ['DELETE /api/domains/:domainId', ['domain.delete']],
  [
    'PUT /api/domains/:domainId/traffic',
    ['traffic.set'],
    { json: { weights: [{ alias: 'production', weight: 100 }] } },
  ],
  ['POST /api/projects/:projectId/purge', ['cdn.purge']],
  ['PUT /api/projects/:projectId/retention', ['retention.change'], { json: { keepLast: 5 } }],
  ['POST /api/projects/:projectId/retention/run', ['retention.run'], { json: { dryRun: false } }],
  ['PUT /api/projects/:projectId/release-checks', ['release_checks.set'], { json: {} }],
  ['DELETE /api/projects/:projectId/release-checks', ['release_checks.delete']],
  ['PUT /api/projects/:projectId/quota', ['quota.change'], { json: { files: 5 } }],
  ['DELETE /api/projects/:projectId/files/:fileId', ['file.delete']],
  ['DELETE /api/projects/:projectId/files', ['file.delete'], { query: 'prefix=pictures' }],
  [
    'POST /api/webhooks',
    ['webhook.create'],
    { json: { url: 'https://chat.example/', events: ['*'], isEnabled: false } },
  ],
  ['PATCH /api/webhooks/:workspaceHookId', ['webhook.change'], { json: { name: 'New' } }],
  ['POST /api/webhooks/:workspaceHookId/rotate-secret', ['webhook.rotate-secret']],
  ['DELETE /api/webhooks/:workspaceHookId', ['webhook.delete']],
  [
    'POST /api/projects/:projectId/webhooks',
    ['webhook.create'],
    { json: { url: 'https://chat.example/', events: ['*'], isEnabled: false } },
  ],
  ['PATCH /api/projects/:projectId/webhooks/:hookId', ['webhook.change'], { json: { name: 'New' } }],
  ['POST /api/projects/:projectId/webhooks/:hookId/rotate-secret', ['webhook.rotate-secret']],
  ['DELETE /api/projects/:projectId/webhooks/:hookId', ['webhook.delete']],
  ['POST /api/deployments', ['deployment.create'], { body: () => upload(deployed) }],
  ['POST /api/assets/upload', ['deployment.create'], { body: () => upload(deployed) }],
  [
    'POST /api/aliases',
    ['alias.create'],
    { json: { projectId: '{projectId}', name: 'next', deploymentId: '{deploymentId}' } },
  ],
  ['PATCH /api/aliases/:aliasId', ['alias.change'], { json: { isLocked: true } }],
  ['PATCH /api/aliases/:previewId', ['alias.change'], { json: { expiresAt: null } }],
  ['DELETE /api/aliases/:previewId', ['preview.end']],
  ['DELETE /api/projects/:projectId/previews/:previewName', ['preview.end']],
  ['DELETE /api/assets/:assetId', ['asset.delete']],
  ['POST /api/proxy-rules/project/:projectId', ['proxy_rule.create'], { json: rule }],
  [
    'PUT /api/proxy-rules/project/:projectId/reorder',
    ['proxy_rule.reorder'],
    { json: { ruleIds: ['{ruleId}'] } },
  ],
  ['POST /api/proxy-rules/alias/:aliasId', ['proxy_rule.create'], { json: rule }],
  ['PUT /api/proxy-rules/alias/:aliasId/reorder', ['proxy_rule.reorder'], { json: { ruleIds: [] } }],
  ['PATCH /api/proxy-rules/:ruleId', ['proxy_rule.change'], { json: { isEnabled: false } }],
  ['DELETE /api/proxy-rules/:ruleId', ['proxy_rule.delete']],
  [
    'PUT /api/proxy-rule-sets/project/:projectId/sync',
    ['rule_set.create'],
    { json: { ruleSet: { name: 'new' }, rules: [] } },
  ],
  [
    'PATCH /api/proxy-rule-sets/:ruleSetId',
    ['rule_set.attach', 'rule_set.change'],
    { json: { aliases: ['production'] } },
  ],
  ['DELETE /api/proxy-rule-sets/:ruleSetId', ['rule_set.delete']],
  ['POST /api/proxy-rule-sets/:ruleSetId/rollback/:revisionId', ['rule_set.rollback']],
]

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

/** The answer of the route to the global admin, and what it added to the audit log. */
async function call(route: string, content?: Content): Promise<{ answer: Response; actions: string[] }> {
  const { sqlite } = world.app.ctx.db
  const list = sqlite.query<{ action: string }, []>('SELECT action FROM audit_log ORDER BY rowid')
  const before = list.all().length
  let actions: string[] = []
  const answer = await world.call('global admin', 'admin', requestOf(route, world.ids, content), () => {
    actions = list
      .all()
      .slice(before)
      .map(({ action }) => action)
  })
  return { answer, actions }
}

test.each(CHANGES.map(([route, expected, content]) => ({ route, expected, content })))(
  '$route is $expected',
  async ({ route, expected, content }) => {
    const { answer, actions } = await call(route, content)
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    expect(actions).toEqual(expected)
  },
)

const patches = ACCESS_TABLE.map(([route]) => route).filter((route) => route.startsWith('PATCH '))

test.each([...new Set(patches)])('%s with nothing to change leaves no entry', async (route) => {
  const { actions } = await call(route, { json: {} })
  expect(actions).toEqual([])
})

test.each([
  [true, ['device.approve']],
  [false, ['device.deny']],
])('POST /api/auth/device/approve with approve: %p is %j', async (approve, expected) => {
  const made = await world.app.call('POST', '/api/auth/device/code', { json: {} })
  const { user_code: userCode } = (await made.json()) as { user_code: string }
  const content = { json: { userCode, approve } }
  expect((await call('POST /api/auth/device/approve', content)).actions).toEqual(expected)
})

test('POST /api/aliases/:aliasId/rollback with nowhere to go leaves no entry', async () => {
  expect((await call('POST /api/aliases/:aliasId/rollback')).actions).toEqual([])
})

test('DELETE /api/aliases/:aliasId of one that no domain needs is ["alias.delete"]', async () => {
  expect((await call('DELETE /api/aliases/:aliasId')).actions).toEqual([])
  runSql(world.app, 'DELETE FROM domains')
  expect((await call('DELETE /api/aliases/:aliasId')).actions).toEqual(['alias.delete'])
})

test('DELETE /api/deployments/:deploymentId of one without aliases is ["deployment.delete"]', async () => {
  runSql(world.app, 'DELETE FROM aliases')
  expect((await call('DELETE /api/deployments/:deploymentId')).actions).toEqual(['deployment.delete'])
})

test('POST /api/api-keys/:project key id/take-over of a suspended one is ["api-key.take-over"]', async () => {
  runSql(world.app, "UPDATE api_keys SET suspended_at = 1, suspended_reason = 'maker_deleted'")
  expect((await call('POST /api/api-keys/:project key id/take-over')).actions).toEqual(['api-key.take-over'])
})

test('POST /api/certificates/wildcard/retry of one that is set up is ["certificate.retry"]', async () => {
  expect((await call('POST /api/certificates/wildcard/retry')).actions).toEqual([])
  world.app.ctx.certificates = withWildcard()
  expect((await call('POST /api/certificates/wildcard/retry')).actions).toEqual(['certificate.retry'])
})

test('POST /api/users/:plain user id/reset-second-step of one who has one is ["user.reset-second-step"]', async () => {
  runSql(world.app, "UPDATE users SET totp_secret = 'x'")
  const { actions } = await call('POST /api/users/:plain user id/reset-second-step')
  expect(actions).toEqual(['user.reset-second-step'])
})

function upload(fields: Record<string, string>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  data.set('file', new File(['x'], 'index.html'))
  return data
}
