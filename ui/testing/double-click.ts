import { RULE_FORM } from '../rules/testing.ts'

export const GRACE = 'grace@example.com'
export const SHA = 'c0ffee1234567890'

/** `:name` in a path or field is replaced by an id of the test. */
type Row = [what: string, path: string, fields: Record<string, string>, thing: string]

/**
 * **A new form that creates something needs a row here.** `thing`: the table whose rows are counted, or an action in
 * the audit log.
 */
export const MAKING: Row[] = [
  ['a project', '/projects/new', { intent: 'create-project', owner: 'acme', repo: 'notes' }, 'projects'],
  [
    'an API key',
    '/keys',
    { intent: 'create-key', name: 'ci', scope: 'global', expiresInDays: '' },
    'api_keys',
  ],
  ['a user', '/admin/users', { intent: 'create', email: 'new@example.com', role: 'user' }, 'users'],
  ['a reset link', '/admin/users/:userId', { intent: 'reset-link' }, 'one_time_tokens'],
  ['a group', '/admin/groups', { intent: 'create', name: 'Editors', description: '' }, 'groups'],
  ['a group member', '/admin/groups/:groupId', { intent: 'add', email: GRACE }, 'group_members'],
  [
    'an invitation',
    '/projects/:id/people',
    { intent: 'invite', email: 'eve@example.com', role: 'viewer' },
    'invitation.create',
  ],
  [
    'a role of a group',
    '/projects/:id/people',
    { intent: 'grant-group', groupId: ':groupId', role: 'viewer' },
    'permission.grant',
  ],
  ['a role', '/projects/:id/people/:userId', { intent: 'grant', role: 'contributor' }, 'permission.grant'],
  ['an alias', '/projects/:id/aliases', { intent: 'create', name: 'beta', deployment: SHA }, 'aliases'],
  [
    'an alias of a deployment',
    '/projects/:id/deployments/:deploymentId',
    { intent: 'create-alias', name: 'next' },
    'aliases',
  ],
  [
    'a domain',
    '/projects/:id/domains',
    { intent: 'create', hostname: 'shop.example.com', alias: 'production' },
    'domains',
  ],
  [
    'a rule of traffic',
    '/projects/:id/domains/:domainId/traffic',
    { intent: 'add-rule', type: 'query', key: 'beta', value: 'yes', alias: 'production' },
    'traffic.set',
  ],
  ['a rule', '/projects/:id/rules/new', RULE_FORM, 'proxy_rules'],
  [
    'a schema',
    '/projects/:id/data/new',
    { intent: 'save', name: 'guests', 'fields[0].name': 'name', 'fields[0].type': 'string' },
    'schemas',
  ],
  ['a record', '/projects/:id/data/:schemaId/new', { intent: 'create', 'field.text': 'Hi' }, 'records'],
  ['a secret', '/projects/:id/secrets', { intent: 'put', name: 'TOKEN', value: 'x' }, 'secret.put'],
]

/** The order matters: rows below do not need what rows above delete. `thing` as above. */
export const TAKING_AWAY: Row[] = [
  ['a key', '/keys', { intent: 'revoke-key', keyId: ':keyId' }, 'api-key.revoke'],
  ['a user', '/admin/users/:oldUserId', { intent: 'delete', confirm: 'old@example.com' }, 'user.delete'],
  [
    'a group member',
    '/admin/groups/:groupId',
    { intent: 'remove', userId: ':userId' },
    'group.remove-member',
  ],
  ['a group', '/admin/groups/:oldGroupId', { intent: 'delete' }, 'group.delete'],
  [
    'an invitation',
    '/projects/:id/people',
    { intent: 'revoke-invitation', invitationId: ':invitationId' },
    'invitation.revoke',
  ],
  [
    'a role of a group',
    '/projects/:id/people',
    { intent: 'revoke-group', groupId: ':groupId' },
    'permission.revoke',
  ],
  ['a role', '/projects/:id/people/:userId', { intent: 'revoke' }, 'permission.revoke'],
  ['a member', '/projects/:id/people/:userId', { intent: 'remove' }, 'member.remove'],
  ['an alias', '/projects/:id/aliases/:oldAliasId', { intent: 'delete' }, 'alias.delete'],
  ['a deployment', '/projects/:id/deployments/:oldDeploymentId', { intent: 'delete' }, 'deployment.delete'],
  ['a domain', '/projects/:id/domains/:oldDomainId', { intent: 'delete' }, 'domain.delete'],
  ['a rule', '/projects/:id/rules/:ruleId', { intent: 'delete' }, 'proxy_rule.delete'],
  ['a record', '/projects/:id/data/:schemaId/:recordId', { intent: 'delete' }, 'record.delete'],
  [
    'a schema',
    '/projects/:id/data/:oldSchemaId/schema',
    { intent: 'delete', confirm: 'olds' },
    'schema.delete',
  ],
  ['a secret', '/projects/:id/secrets', { intent: 'delete', name: 'TOKEN' }, 'secret.delete'],
  [
    'a project',
    '/projects/:oldProjectId/settings',
    { intent: 'delete', confirm: 'acme/old' },
    'project.delete',
  ],
]
