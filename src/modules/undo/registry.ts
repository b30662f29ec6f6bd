import { aliasChange, aliasCreate, aliasDelete, aliasMove } from '../aliases/undo.ts'
import { domainChange, domainCreate, domainDelete } from '../domains/undo.ts'
import { groupAddMember, groupChange, groupCreate, groupDelete, groupRemoveMember } from '../groups/undo.ts'
import { invitationRestore, invitationRevoke } from '../invitations/undo.ts'
import { permissionChange } from '../members/undo.ts'
import { projectChange } from '../projects/undo.ts'
import { ruleChange, ruleCreate, ruleDelete, ruleReorder } from '../proxy-rules/undo.ts'
import { quotaChange } from '../quotas/undo.ts'
import { releaseChecks } from '../releases/undo.ts'
import { retentionChange } from '../retention/undo.ts'
import { settingsChange } from '../settings/undo.ts'
import { trafficChange } from '../traffic/undo.ts'
import { userRole, userSuspension } from '../users/undo.ts'
import type { AnyUndoKind } from './kind.ts'

const PUBLISHED = 'a publish is rolled back instead'
const DELETED = 'what was deleted is gone for good'
const REVISIONS = 'rule sets have revisions to roll back to'
const TOLD = 'somebody else has to agree again'
const PASSED = 'it only says what happened'
const KEYS = 'keys and secrets are made anew instead'
const ENDED = 'who was signed out signs in again'
const OWN = 'only the person can change their own account'
const DATA = 'records and their schemas are changed again instead'
const SCHEDULES = 'schedules are changed again instead'
const HOOKS = 'webhooks are changed again instead'

/**
 * What becomes of an audited change that somebody wants to undo: how it is undone, or why it cannot be. Each action of the
 * audit log has a row here, which a test keeps. contract 17.9.
 */
export const UNDO: Readonly<Record<string, AnyUndoKind | string>> = {
  'alias.change': aliasChange,
  'alias.create': aliasCreate,
  'alias.delete': aliasDelete,
  'alias.move': aliasMove,
  'domain.change': domainChange,
  'domain.create': domainCreate,
  'domain.delete': domainDelete,
  'group.add-member': groupAddMember,
  'group.change': groupChange,
  'group.create': groupCreate,
  'group.delete': groupDelete,
  'group.remove-member': groupRemoveMember,
  'invitation.restore': invitationRestore,
  'invitation.revoke': invitationRevoke,
  'member.remove': permissionChange,
  'permission.grant': permissionChange,
  'permission.revoke': permissionChange,
  'project.change': projectChange,
  'proxy_rule.change': ruleChange,
  'proxy_rule.create': ruleCreate,
  'proxy_rule.delete': ruleDelete,
  'proxy_rule.reorder': ruleReorder,
  'quota.change': quotaChange,
  'release_checks.delete': releaseChecks,
  'release_checks.set': releaseChecks,
  'retention.change': retentionChange,
  'settings.change': settingsChange,
  'traffic.delete': trafficChange,
  'traffic.set': trafficChange,
  'user.change': userRole,
  'user.suspend': userSuspension,
  'user.unsuspend': userSuspension,

  'api-key.create': KEYS,
  'api-key.revoke': KEYS,
  'api-key.suspend': KEYS,
  'api-key.take-over': KEYS,
  'api-key.unsuspend': KEYS,
  'asset.delete': DELETED,
  'backup.create': PASSED,
  'backup.download': PASSED,
  'cdn.purge': PASSED,
  'certificate.fail': PASSED,
  'certificate.issue': PASSED,
  'certificate.renew': PASSED,
  'certificate.retry': PASSED,
  'deployment.add_files': PUBLISHED,
  'deployment.create': PUBLISHED,
  'deployment.delete': DELETED,
  'deployment.publish_again': PUBLISHED,
  'device.approve': ENDED,
  'device.deny': ENDED,
  'domain.certificate': PASSED,
  'domain.verify': PASSED,
  'file.delete': DELETED,
  'invitation.accept': TOLD,
  'invitation.create': TOLD,
  'machine.primary': PASSED,
  'mail.test': PASSED,
  'membership.join': TOLD,
  'membership.leave': TOLD,
  'notice.change': OWN,
  'preview.end': DELETED,
  'project.create': 'delete the project instead',
  'project.delete': DELETED,
  'project.transfer': 'the new owner can transfer it back',
  'record.change': DATA,
  'record.create': DATA,
  'record.delete': DATA,
  'release.force': PUBLISHED,
  'retention.run': DELETED,
  'rule_set.attach': REVISIONS,
  'rule_set.change': REVISIONS,
  'rule_set.create': REVISIONS,
  'rule_set.delete': REVISIONS,
  'rule_set.detach': REVISIONS,
  'rule_set.place': REVISIONS,
  'rule_set.rollback': REVISIONS,
  'rule_set.sync': REVISIONS,
  'schedule.change': SCHEDULES,
  'schedule.create': SCHEDULES,
  'schedule.delete': SCHEDULES,
  'schedule.run': PASSED,
  'schema.change': DATA,
  'schema.create': DATA,
  'schema.delete': DATA,
  'secret.delete': KEYS,
  'secret.put': KEYS,
  'session.end': ENDED,
  'session.open': ENDED,
  'user.connect': OWN,
  'user.create': 'delete the account instead',
  'user.delete': DELETED,
  'user.disconnect': OWN,
  'user.end-sessions': ENDED,
  'user.forgot-password': PASSED,
  'user.mfa-off': OWN,
  'user.mfa-on': OWN,
  'user.recovery-codes': OWN,
  'user.reset-link': PASSED,
  'user.reset-second-step': OWN,
  'user.set-password': OWN,
  'webhook.change': HOOKS,
  'webhook.create': HOOKS,
  'webhook.delete': HOOKS,
  'webhook.off': HOOKS,
  'webhook.rotate-secret': HOOKS,
}
