import type { ProjectRole } from '../domain/roles.ts'

/**
 * Who may call a route, in the words of the contract:
 * - a project role: the lowest sufficient role on the project of the request (§4, the spec's permission matrix);
 * - `any credential`: every session and every valid key (lists, which contain only what the caller may see);
 * - `person`: everybody who is signed in, with their own account;
 * - `project maker`: persons with the global role user or admin;
 * - `global admin`;
 * - `link`: whoever holds the link in the path;
 * - `anybody`: credentials are ignored (or invalid ones are bad input, not a denial);
 * - `session`: everybody with a session, past the gate or not; `session past the gate`: only those past it.
 */
export type Who =
  | ProjectRole
  | 'any credential'
  | 'person'
  | 'project maker'
  | 'global admin'
  | 'link'
  | 'anybody'
  | 'session'
  | 'session past the gate'

export type Content = {
  json?: unknown
  body?: () => BodyInit
  headers?: Record<string, string>
  query?: string
  /** An allowed call may return 404, because the thing in the path is the caller's own and not everybody has one. */
  orMissing?: true
  /** A session on a site host may not even read it there. contract 17.13 */
  isAdminHostOnly?: true
}

/**
 * One row per registered route, in the order of `src/server/endpoints.ts`, written from the contract, not from the code. **A
 * new route needs a row here**: `METHOD /path` with names of things that `access-things.ts` creates (`:aliasId`)
 * instead of parameters, who may call it, and content if the request names its project in the body or `{}` is not
 * enough. Contents should be harmless or invalid: an allowed caller must get past 401, 403 and 404, and 400 is fine. A
 * route whose content decides who may call it has a row per case. If a path names a new kind of thing, create one in
 * `addThings` there.
 */
export const ACCESS_TABLE: [route: string, who: Who, content?: Content][] = [
  ['GET /api/setup/status', 'anybody'],
  ['POST /api/setup/complete', 'anybody'],
  ['GET /api/health', 'anybody'],
  ['GET /api/health/primary', 'anybody'],
  ['GET /api/health/details', 'global admin'],

  ...(['/api/auth', '/_svc/auth'] as const).flatMap((prefix): [string, Who, Content?][] => [
    [`POST ${prefix}/signup`, 'anybody'],
    [`POST ${prefix}/signin`, 'anybody'],
    [`GET ${prefix}/session`, 'anybody'],
    [`POST ${prefix}/signout`, 'session'],
    [`POST ${prefix}/logout`, 'session'],
    [`POST ${prefix}/session/refresh`, 'session past the gate'],
    [`POST ${prefix}/refresh`, 'session past the gate'],
    [`POST ${prefix}/forgot-password`, 'anybody'],
    [`POST ${prefix}/reset-password`, 'anybody'],
    [`GET ${prefix}/login-methods`, 'anybody'],
    // No provider is configured here.
    [`GET ${prefix}/oidc/:secretName/start`, 'anybody', { orMissing: true }],
    [`GET ${prefix}/oidc/:secretName/callback`, 'anybody', { orMissing: true }],
  ]),
  ['POST /api/auth/device/code', 'anybody'],
  ['POST /api/auth/device/token', 'anybody'],
  ['GET /api/auth/device/:secretName', 'person', { orMissing: true }],
  ['POST /api/auth/device/approve', 'person', { json: { userCode: 'x', approve: true }, orMissing: true }],
  ['GET /_svc/auth/callback', 'anybody'],

  ['GET /api/account', 'person'],
  ['GET /api/account/sites', 'person'],
  ['GET /api/account/notices', 'person'],
  ['PATCH /api/account/notices', 'person', { json: {} }],
  ['POST /api/account/password', 'person'],
  ['POST /api/account/mfa/totp', 'person'],
  ['POST /api/account/mfa/totp/confirm', 'person'],
  ['POST /api/account/mfa/recovery-codes', 'person'],
  ['DELETE /api/account/mfa/totp', 'person'],
  ['DELETE /api/account/sessions/:uploadId', 'person', { orMissing: true }],
  ['DELETE /api/account/connections/:secretName', 'person', { orMissing: true }],
  ['DELETE /api/account/sites/:projectId', 'person', { orMissing: true }],

  ['GET /api/projects', 'any credential'],
  ['POST /api/projects', 'project maker'],
  ['GET /api/projects/:projectId', 'guest'],
  ['GET /api/projects/:owner/:repo', 'guest'],
  ['PATCH /api/projects/:projectId', 'admin'],
  ['DELETE /api/projects/:projectId', 'owner'],
  ['GET /api/projects/:projectId/transfer-ownership', 'guest'],
  ['POST /api/projects/:projectId/transfer-ownership', 'owner'],

  ['GET /api/projects/:projectId/permissions', 'viewer'],
  ['GET /api/projects/:projectId/permissions/explain', 'viewer', { query: 'userId={guest id}' }],
  [
    'POST /api/projects/:projectId/permissions/users',
    'admin',
    { json: { userId: '{plain user id}', role: 'guest' } },
  ],
  ['DELETE /api/projects/:projectId/permissions/users/:guest id', 'admin'],
  [
    'POST /api/projects/:projectId/permissions/groups',
    'admin',
    { json: { groupId: '{groupId}', role: 'guest' } },
  ],
  ['DELETE /api/projects/:projectId/permissions/groups/:groupId', 'admin'],
  ['GET /api/projects/:projectId/members', 'viewer'],
  ['DELETE /api/projects/:projectId/members/:guest id', 'admin'],
  ['GET /api/projects/:projectId/invitations', 'admin'],
  ['POST /api/projects/:projectId/invitations', 'admin', { json: { email: 'x@example.com', role: 'guest' } }],
  ['DELETE /api/projects/:projectId/invitations/:invitationId', 'admin'],
  ['GET /api/invitations/:token', 'link'],
  ['POST /api/invitations/:wrongToken/accept', 'person', { orMissing: true }],
  ['GET /api/projects/:projectId/secrets', 'contributor'],
  ['PUT /api/projects/:projectId/secrets/:secretName', 'admin', { json: { value: 'x' } }],
  ['DELETE /api/projects/:projectId/secrets/:secretName', 'admin'],

  ['GET /api/schemas', 'viewer', { query: 'projectId={projectId}' }],
  ['POST /api/schemas', 'contributor', { json: { projectId: '{projectId}', name: 'more', fields: [] } }],
  ['GET /api/schemas/:schemaId', 'viewer'],
  ['PATCH /api/schemas/:schemaId', 'contributor', { json: {} }],
  ['DELETE /api/schemas/:schemaId', 'contributor'],
  ['GET /api/schemas/:schemaId/records', 'viewer'],
  ['POST /api/schemas/:schemaId/records', 'contributor', { json: {} }],
  ['GET /api/schemas/:schemaId/records/export', 'viewer'],
  ['GET /api/schemas/:schemaId/records/:recordId', 'viewer'],
  ['PATCH /api/schemas/:schemaId/records/:recordId', 'contributor', { json: {} }],
  ['DELETE /api/schemas/:schemaId/records/:recordId', 'contributor'],
  ['GET /api/projects/:projectId/pipeline-runs', 'viewer'],
  ['GET /api/projects/:projectId/pipeline-runs/:runId', 'viewer'],
  ['GET /api/projects/:projectId/schedules', 'viewer'],
  ['POST /api/projects/:projectId/schedules', 'contributor', { json: {} }],
  ['GET /api/projects/:projectId/schedules/preview', 'viewer', { query: 'cron=@daily' }],
  ['GET /api/projects/:projectId/schedules/:scheduleId', 'viewer'],
  ['PATCH /api/projects/:projectId/schedules/:scheduleId', 'contributor', { json: {} }],
  ['DELETE /api/projects/:projectId/schedules/:scheduleId', 'contributor'],
  ['POST /api/projects/:projectId/schedules/:scheduleId/run', 'contributor'],

  ['GET /api/projects/:projectId/files', 'viewer'],
  ['DELETE /api/projects/:projectId/files', 'contributor', { query: 'prefix=pictures' }],
  ['GET /api/projects/:projectId/files/:fileId', 'viewer'],
  ['GET /api/projects/:projectId/files/:fileId/content', 'viewer'],
  ['DELETE /api/projects/:projectId/files/:fileId', 'contributor'],

  ['GET /api/users', 'global admin'],
  ['POST /api/users', 'global admin', { json: { email: 'x@example.com' } }],
  ['GET /api/users/:plain user id', 'global admin'],
  ['PATCH /api/users/:plain user id', 'global admin', { json: { role: 'admin' } }],
  ['DELETE /api/users/:plain user id', 'global admin'],
  ['POST /api/users/:plain user id/reset-link', 'global admin'],
  ['GET /api/users/:plain user id/overview', 'global admin'],
  ['DELETE /api/users/:plain user id/sessions', 'global admin'],
  ['DELETE /api/users/:plain user id/sessions/:uploadId', 'global admin', { orMissing: true }],
  ['POST /api/users/:plain user id/reset-second-step', 'global admin'],
  ['POST /api/users/:plain user id/suspend', 'global admin'],
  ['POST /api/users/:plain user id/unsuspend', 'global admin'],
  ['GET /api/groups', 'global admin'],
  ['POST /api/groups', 'global admin', { json: { name: 'x' } }],
  ['GET /api/groups/:groupId', 'global admin'],
  ['PATCH /api/groups/:groupId', 'global admin', { json: { name: 'x' } }],
  ['DELETE /api/groups/:groupId', 'global admin'],
  ['GET /api/groups/:groupId/members', 'global admin'],
  ['POST /api/groups/:groupId/members', 'global admin', { json: { userId: '{guest id}' } }],
  ['DELETE /api/groups/:groupId/members/:non-member id', 'global admin'],
  ['GET /api/settings', 'global admin'],
  ['PATCH /api/settings', 'global admin', { json: { allowPublicSignups: true } }],
  ['POST /api/settings/mail/test', 'global admin', { json: {} }],
  ['GET /api/api-keys', 'global admin'],
  ['POST /api/api-keys', 'global admin', { json: { name: 'x', isGlobal: true } }],
  ['DELETE /api/api-keys/:project key id', 'global admin'],
  ['POST /api/api-keys/:project key id/take-over', 'global admin'],
  ['GET /api/audit', 'global admin'],
  ['POST /api/audit/:entryId/undo', 'admin'],
  ['GET /api/projects/:projectId/audit', 'admin'],
  ['GET /api/logs', 'global admin'],
  ['GET /api/logs/tail', 'global admin'],
  ['GET /api/analytics', 'global admin'],
  ['GET /api/projects/:projectId/analytics', 'admin'],
  ['GET /api/projects/:projectId/errors', 'admin'],
  ['GET /api/projects/:projectId/missing', 'admin'],
  ['GET /api/projects/:projectId/logs', 'admin'],
  ['GET /api/projects/:projectId/logs/tail', 'admin'],
  ['GET /api/attention', 'any credential', { isAdminHostOnly: true }],
  ['GET /api/projects/:projectId/attention', 'viewer', { isAdminHostOnly: true }],
  ['GET /api/storage', 'global admin'],
  ['GET /api/machines', 'global admin'],
  ['GET /api/backups', 'global admin'],
  // No backup folder is configured here.
  ['POST /api/backups', 'global admin'],
  ['POST /api/backups/download', 'global admin', { json: { password: 5 } }],
  ['POST /api/backups/:secretName/download', 'global admin', { json: { password: 5 } }],
  ['GET /api/certificates', 'global admin'],
  // No wildcard is set up here.
  ['POST /api/certificates/wildcard/retry', 'global admin'],
  ['GET /api/webhooks', 'global admin'],
  ['POST /api/webhooks', 'global admin', { json: {} }],
  ['GET /api/webhooks/:workspaceHookId', 'global admin'],
  ['PATCH /api/webhooks/:workspaceHookId', 'global admin', { json: {} }],
  ['DELETE /api/webhooks/:workspaceHookId', 'global admin'],
  ['POST /api/webhooks/:workspaceHookId/rotate-secret', 'global admin'],
  ['POST /api/webhooks/:workspaceHookId/test', 'global admin'],
  ['GET /api/webhooks/:workspaceHookId/deliveries', 'global admin'],
  ['GET /api/webhooks/:workspaceHookId/deliveries/:workspaceDeliveryId', 'global admin'],
  ['POST /api/webhooks/:workspaceHookId/deliveries/:workspaceDeliveryId/resend', 'global admin'],
  ['GET /api/projects/:projectId/retention', 'viewer'],
  ['PUT /api/projects/:projectId/retention', 'admin', { json: {} }],
  ['POST /api/projects/:projectId/retention/run', 'admin', { json: {} }],
  ['GET /api/projects/:projectId/release-checks', 'viewer'],
  ['PUT /api/projects/:projectId/release-checks', 'admin', { json: {} }],
  ['DELETE /api/projects/:projectId/release-checks', 'admin'],
  ['GET /api/projects/:projectId/quota', 'viewer'],
  ['PUT /api/projects/:projectId/quota', 'global admin', { json: {} }],
  ['GET /api/projects/:projectId/webhooks', 'admin'],
  ['POST /api/projects/:projectId/webhooks', 'admin', { json: {} }],
  ['GET /api/projects/:projectId/webhooks/:hookId', 'admin'],
  ['PATCH /api/projects/:projectId/webhooks/:hookId', 'admin', { json: {} }],
  ['DELETE /api/projects/:projectId/webhooks/:hookId', 'admin'],
  ['POST /api/projects/:projectId/webhooks/:hookId/rotate-secret', 'admin'],
  ['POST /api/projects/:projectId/webhooks/:hookId/test', 'admin'],
  ['GET /api/projects/:projectId/webhooks/:hookId/deliveries', 'admin'],
  ['GET /api/projects/:projectId/webhooks/:hookId/deliveries/:deliveryId', 'admin'],
  ['POST /api/projects/:projectId/webhooks/:hookId/deliveries/:deliveryId/resend', 'admin'],

  ['GET /api/domains', 'any credential'],
  [
    'POST /api/domains',
    'admin',
    { json: { projectId: '{projectId}', hostname: 'docs.example', alias: 'production' } },
  ],
  ['GET /api/domains/:domainId', 'viewer'],
  ['PATCH /api/domains/:domainId', 'admin', { json: { isSpa: true } }],
  ['DELETE /api/domains/:domainId', 'admin'],
  ['POST /api/domains/:domainId/verify', 'admin'],
  ['POST /api/domains/:domainId/certificate', 'admin'],
  ['GET /api/cdn', 'global admin'],
  ['GET /api/projects/:projectId/purge', 'guest'],
  ['POST /api/projects/:projectId/purge', 'contributor'],
  ['GET /api/domains/:domainId/traffic', 'viewer', { orMissing: true }],
  [
    'PUT /api/domains/:domainId/traffic',
    'contributor',
    { json: { weights: [{ alias: 'production', weight: 100 }] } },
  ],
  ['DELETE /api/domains/:domainId/traffic', 'contributor'],
  ['GET /api/explain', 'viewer', { query: 'url=http://{host}/' }],

  ['GET /api/deployments', 'any credential'],
  ['GET /api/deployments/:deploymentId', 'viewer'],
  ['GET /api/deployments/:deploymentId/files', 'viewer'],
  ['GET /api/deployments/:deploymentId/routing', 'viewer'],
  ['GET /api/deployments/:deploymentId/report', 'viewer'],
  [
    'GET /api/deployments/:deploymentId/compare',
    'viewer',
    { query: 'with={deploymentId}', isAdminHostOnly: true },
  ],
  [
    'GET /api/deployments/:deploymentId/compare/file',
    'viewer',
    { query: 'with={deploymentId}&path=index.html', isAdminHostOnly: true },
  ],
  [
    'GET /api/deployments/:deploymentId/content',
    'viewer',
    { query: 'path=index.html', isAdminHostOnly: true },
  ],
  ['GET /api/projects/:projectId/deployments/:number', 'viewer', { isAdminHostOnly: true }],
  ['DELETE /api/deployments/:deploymentId', 'admin'],
  [
    'POST /api/deployments',
    'contributor',
    { query: 'owner=acme&repo=docs', headers: { 'content-type': 'application/zip' }, body: () => 'no zip' },
  ],
  ['POST /api/deployments/zip', 'contributor', { body: () => form({ repository: 'acme/docs' }) }],
  ['POST /api/deployments/prepare-batch-upload', 'any credential'],
  ['POST /api/deployments/manifest', 'contributor', { json: { owner: 'acme', repo: 'docs' } }],
  ['PUT /api/deployments/manifest/:uploadId', 'contributor'],
  ['GET /api/aliases', 'any credential'],
  ['POST /api/aliases', 'contributor', { json: { projectId: '{projectId}' } }],
  [
    'POST /api/aliases',
    'admin',
    { json: { projectId: '{projectId}', name: 'next', deploymentId: '{deploymentId}', isPublic: true } },
  ],
  ['PATCH /api/aliases/:aliasId', 'contributor', { json: { commitSha: 'b' } }],
  ['PATCH /api/aliases/:aliasId', 'admin', { json: { isLocked: true } }],
  ['PATCH /api/aliases/:aliasId', 'admin', { json: { isPublic: true } }],
  ['PATCH /api/aliases/:aliasId', 'admin', { json: { requiredRole: 'admin' } }],
  ['PATCH /api/aliases/:aliasId', 'admin', { json: { isSpa: true } }],
  ['DELETE /api/aliases/:aliasId', 'admin'],
  ['PATCH /api/aliases/:aliasId', 'admin', { json: { expiresAt: null } }],
  ['PATCH /api/aliases/:previewId', 'contributor', { json: { expiresAt: null } }],
  ['PATCH /api/aliases/:previewId', 'admin', { json: { expiresAt: null, isLocked: true } }],
  ['DELETE /api/aliases/:previewId', 'contributor'],
  ['GET /api/projects/:projectId/previews', 'viewer'],
  ['DELETE /api/projects/:projectId/previews/:previewName', 'contributor'],
  ['POST /api/aliases/:aliasId/rollback', 'contributor'],
  ['GET /api/aliases/:aliasId/history', 'viewer'],
  ['GET /api/assets/:assetId', 'viewer'],
  ['DELETE /api/assets/:assetId', 'admin'],
  ['POST /api/assets/upload', 'contributor', { body: () => form({ owner: 'acme', repo: 'docs' }) }],

  ['GET /api/proxy-rules/project/:projectId', 'viewer'],
  ['POST /api/proxy-rules/project/:projectId', 'contributor'],
  ['PUT /api/proxy-rules/project/:projectId/reorder', 'contributor'],
  ['GET /api/proxy-rules/alias/:aliasId', 'viewer'],
  ['POST /api/proxy-rules/alias/:aliasId', 'contributor'],
  ['PUT /api/proxy-rules/alias/:aliasId/reorder', 'contributor'],
  ['GET /api/proxy-rules/:ruleId', 'viewer'],
  ['PATCH /api/proxy-rules/:ruleId', 'contributor'],
  ['DELETE /api/proxy-rules/:ruleId', 'contributor'],
  ['POST /api/projects/:projectId/rules/validate', 'contributor', { json: { yaml: 'pathPattern: /x' } }],
  ['GET /api/proxy-rules/:ruleId/yaml', 'viewer', { isAdminHostOnly: true }],
  ['GET /api/rule-examples', 'any credential', { isAdminHostOnly: true }],

  ['PUT /api/proxy-rule-sets/project/:projectId/sync', 'contributor'],
  ['GET /api/proxy-rule-sets/project/:projectId', 'viewer'],
  ['GET /api/proxy-rule-sets/:ruleSetId', 'viewer'],
  ['GET /api/proxy-rule-sets/:ruleSetId/export', 'viewer'],
  ['PATCH /api/proxy-rule-sets/:ruleSetId', 'contributor'],
  ['DELETE /api/proxy-rule-sets/:ruleSetId', 'contributor'],
  ['GET /api/proxy-rule-sets/:ruleSetId/revisions', 'viewer'],
  ['POST /api/proxy-rule-sets/:ruleSetId/rollback/:revisionId', 'contributor'],
]

function form(fields: Record<string, string>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.set(name, value)
  return data
}
