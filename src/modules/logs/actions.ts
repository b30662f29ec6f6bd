/** The groups of the audit log. contract 17.12. */
export const AUDIT_GROUPS = [
  'publishing',
  'aliases',
  'rules',
  'data',
  'people',
  'domains',
  'settings',
  'keys',
  'backups',
] as const
export type AuditGroup = (typeof AUDIT_GROUPS)[number]

/** What an entry says of a change; `project` is its name. */
export type Facts = {
  name: string
  project: string
  before: Readonly<Record<string, unknown>>
  after: Readonly<Record<string, unknown>>
  target: string
}

type Words = string | ((facts: Facts) => string)

/**
 * Each action with its group, and what the actor did: `{name}` is the thing, `{project}` where it is. A test keeps the list
 * complete.
 */
export const AUDIT_ACTIONS: Readonly<Record<string, readonly [group: AuditGroup, words: Words]>> = {
  'alias.change': ['aliases', 'changed {name} of {project}'],
  'alias.create': ['aliases', 'made the alias {name} of {project}'],
  'alias.delete': ['aliases', 'deleted the alias {name} of {project}'],
  'alias.move': ['aliases', movedAlias],
  'api-key.create': ['keys', 'made the API key {name}'],
  'api-key.revoke': ['keys', 'revoked the API key {name}'],
  'api-key.suspend': ['keys', 'suspended the API key {name}'],
  'api-key.take-over': ['keys', 'took over the API key {name}'],
  'api-key.unsuspend': ['keys', 'let the API key {name} work again'],
  'asset.delete': ['publishing', 'deleted the file {name} of {project}'],
  'backup.create': ['backups', 'made a backup'],
  'backup.download': ['backups', 'downloaded a backup'],
  'cdn.purge': ['publishing', 'purged {project} from the CDN'],
  'certificate.fail': ['domains', 'got no certificate for {name}'],
  'certificate.issue': ['domains', 'got a certificate for {name}'],
  'certificate.renew': ['domains', 'renewed the certificate of {name}'],
  'certificate.retry': ['domains', 'asked for the certificate of {name}'],
  'deployment.add_files': [
    'publishing',
    ({ after, name, project }) => `added files to ${deploymentOf(after, name)} of ${project}`,
  ],
  'deployment.create': [
    'publishing',
    ({ after, name, project }) => `published ${deploymentOf(after, name)} of ${project}`,
  ],
  'deployment.delete': [
    'publishing',
    ({ before, name, project }) => `deleted ${deploymentOf(before, name)} of ${project}`,
  ],
  'deployment.publish_again': [
    'publishing',
    ({ after, name, project }) => `published ${deploymentOf(after, name)} of ${project} again`,
  ],
  'device.approve': ['people', 'approved a sign-in on the command line'],
  'device.deny': ['people', 'denied a sign-in on the command line'],
  'domain.certificate': ['domains', 'asked for a certificate for {name}'],
  'domain.change': ['domains', 'changed the domain {name} of {project}'],
  'domain.create': ['domains', 'added the domain {name} to {project}'],
  'domain.delete': ['domains', 'removed the domain {name} from {project}'],
  'domain.verify': ['domains', 'proved the domain {name} of {project}'],
  'file.delete': [
    'data',
    ({ before, name, project }) =>
      before['prefix'] === undefined
        ? `deleted the uploaded file ${name} of ${project}`
        : `deleted ${before['count']} uploaded files in ${name} of ${project}`,
  ],
  'group.add-member': ['people', ({ after, name }) => `added ${after['email']} to the group ${name}`],
  'group.change': ['people', 'changed the group {name}'],
  'group.create': ['people', 'made the group {name}'],
  'group.delete': ['people', 'deleted the group {name}'],
  'group.remove-member': [
    'people',
    ({ before, name }) => `removed ${before['email']} from the group ${name}`,
  ],
  'invitation.accept': ['people', 'accepted the invitation to {project}'],
  'invitation.create': ['people', 'invited {name} to {project}'],
  'invitation.restore': ['people', 'invited {name} to {project} again'],
  'invitation.revoke': ['people', 'revoked the invitation of {name} to {project}'],
  'machine.primary': ['settings', 'took over as the primary machine'],
  'mail.test': ['settings', 'sent a test mail'],
  'member.remove': ['people', 'removed {name} from {project}'],
  'membership.join': ['people', 'joined {project}'],
  'membership.leave': ['people', 'left {project}'],
  'notice.change': ['people', 'changed which mails they get'],
  'permission.grant': [
    'people',
    ({ after, name, project }) => `gave ${name} the role ${after['role']} on ${project}`,
  ],
  'permission.revoke': [
    'people',
    ({ before, name, project }) => `took the role ${before['role']} on ${project} from ${name}`,
  ],
  'preview.end': ['aliases', 'ended the preview {name} of {project}'],
  'project.change': ['settings', 'changed the settings of {project}'],
  'project.create': ['settings', 'made the project {name}'],
  'project.delete': ['settings', 'deleted the project {name}'],
  'project.transfer': ['people', ({ after, name }) => `gave ${name} to ${after['owner']}`],
  'proxy_rule.change': ['rules', 'changed the rule {name} of {project}'],
  'proxy_rule.create': ['rules', 'made the rule {name} of {project}'],
  'proxy_rule.delete': ['rules', 'deleted the rule {name} of {project}'],
  'proxy_rule.reorder': [
    'rules',
    ({ target, name, project }) =>
      `put the rules of ${target === 'alias' ? `${name} of ${project}` : project} in another order`,
  ],
  'quota.change': ['settings', 'changed the quota of {project}'],
  'record.change': ['data', 'changed a record of {project}'],
  'record.create': ['data', 'made a record of {project}'],
  'record.delete': ['data', 'deleted a record of {project}'],
  'release.force': ['publishing', 'released {name} of {project} in spite of its checks'],
  'release_checks.delete': ['settings', 'removed the release checks of {project}'],
  'release_checks.set': ['settings', 'changed the release checks of {project}'],
  'retention.change': ['settings', 'changed what {project} keeps'],
  'retention.run': ['publishing', 'removed old deployments of {project}'],
  'rule_set.attach': ['rules', 'attached the rule set {name} of {project}'],
  'rule_set.change': ['rules', 'changed the rule set {name} of {project}'],
  'rule_set.create': ['rules', 'pushed the rule set {name} to {project}'],
  'rule_set.delete': ['rules', 'deleted the rule set {name} of {project}'],
  'rule_set.detach': ['rules', 'detached the rule set {name} of {project}'],
  'rule_set.place': ['rules', 'put the rule sets of {name} of {project} in another order'],
  'rule_set.rollback': ['rules', 'rolled the rule set {name} of {project} back'],
  'rule_set.sync': ['rules', 'pushed the rule set {name} to {project}'],
  'schedule.change': ['rules', 'changed the schedule {name} of {project}'],
  'schedule.create': ['rules', 'made the schedule {name} of {project}'],
  'schedule.delete': ['rules', 'deleted the schedule {name} of {project}'],
  'schedule.run': ['rules', 'ran the schedule {name} of {project}'],
  'schema.change': ['data', 'changed the schema {name} of {project}'],
  'schema.create': ['data', 'made the schema {name} of {project}'],
  'schema.delete': ['data', 'deleted the schema {name} of {project}'],
  'secret.delete': ['keys', 'deleted the secret {name} of {project}'],
  'secret.put': ['keys', 'stored the secret {name} of {project}'],
  'session.end': ['people', 'ended a session'],
  'session.open': ['people', 'signed in'],
  'settings.change': ['settings', 'changed the settings of the workspace'],
  'traffic.delete': ['domains', 'removed the traffic split of {name}'],
  'traffic.set': ['domains', 'changed the traffic split of {name}'],
  'user.change': ['people', changedUser],
  'user.connect': ['people', 'connected {name} with a provider'],
  'user.create': ['people', 'made the account {name}'],
  'user.delete': ['people', 'deleted the account {name}'],
  'user.end-sessions': ['people', 'ended all sessions of {name}'],
  'user.disconnect': ['people', 'disconnected {name} from a provider'],
  'user.forgot-password': ['people', 'asked for a new password for {name}'],
  'user.mfa-off': ['people', 'turned the second step of {name} off'],
  'user.mfa-on': ['people', 'turned the second step of {name} on'],
  'user.recovery-codes': ['people', 'made new recovery codes for {name}'],
  'user.reset-link': ['people', 'made a password link for {name}'],
  'user.reset-second-step': ['people', 'reset the second step of {name}'],
  'user.set-password': ['people', 'set the password of {name}'],
  'user.suspend': ['people', 'suspended {name}'],
  'user.unsuspend': ['people', 'let {name} back in'],
  'webhook.change': ['settings', 'changed the webhook {name}'],
  'webhook.create': ['settings', 'made the webhook {name}'],
  'webhook.delete': ['settings', 'deleted the webhook {name}'],
  'webhook.off': ['settings', 'turned the webhook {name} off'],
  'webhook.rotate-secret': ['settings', 'made a new secret for the webhook {name}'],
}

export const isAuditGroup = (text: string): text is AuditGroup =>
  (AUDIT_GROUPS as readonly string[]).includes(text)

export const actionsOfGroup = (group: AuditGroup): string[] =>
  Object.entries(AUDIT_ACTIONS).flatMap(([action, [its]]) => (its === group ? [action] : []))

/** What the actor did, as the rest of a sentence. An action of an older version stands for itself. */
export function phraseOf(action: string, facts: Facts): string {
  const words = AUDIT_ACTIONS[action]?.[1]
  if (words === undefined) return `${action} ${facts.name}`
  if (typeof words === 'function') return words(facts)
  return words.replaceAll(/\{(name|project)\}/g, (_, key: 'name' | 'project') => facts[key])
}

function movedAlias({ name, project, before, after }: Facts): string {
  const [from, to] = [deploymentOf(before, 'a deleted deployment'), deploymentOf(after, 'a deployment')]
  if (after['reason'] === 'publish') return `published ${to} to ${name} of ${project}, in place of ${from}`
  return from === to
    ? `moved ${name} of ${project} to ${text(after['basePath']) || '/'} of ${to}`
    : `moved ${name} of ${project} from ${from} to ${to}`
}

function changedUser({ name, before, after }: Facts): string {
  if (before['email'] !== after['email']) return `changed the email of ${name} to ${after['email']}`
  return `made ${name} ${after['role'] === 'admin' ? 'an' : 'a'} ${after['role']}`
}

/** `#12`; entries of before there were numbers have the commit. */
function deploymentOf(values: Facts['before'], otherwise: string): string {
  if (typeof values['number'] === 'number') return `#${values['number']}`
  return (text(values['commitSha']) || otherwise).slice(0, text(values['commitSha']) === '' ? undefined : 12)
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
