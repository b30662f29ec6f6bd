import type { Database } from 'bun:sqlite'
import foundation from './0001_foundation.sql' with { type: 'text' }
import rules from './0002_rules.sql' with { type: 'text' }
import records from './0003_records.sql' with { type: 'text' }
import handedOverSessions from './0004_handed_over_sessions.sql' with { type: 'text' }
import domainChecks from './0005_domain_checks.sql' with { type: 'text' }
import lists from './0006_lists.sql' with { type: 'text' }
import publishedUploads from './0007_published_uploads.sql' with { type: 'text' }
import largeLists from './0008_large_lists.sql' with { type: 'text' }
import removedProjects from './0009_removed_projects.sql' with { type: 'text' }
import auditNames from './0010_audit_names.sql' with { type: 'text' }
import damagedContents from './0011_damaged_contents.sql' with { type: 'text' }
import expiryAndFilters from './0012_expiry_and_filters.sql' with { type: 'text' }
import contentNumbers from './0013_content_numbers.sql' with { type: 'text' }
import contentText from './0014_content_text.sql' with { type: 'text' }
import projectVariants from './0015_project_variants.sql' with { type: 'text' }
import emailKeys from './0016_email_keys.sql' with { type: 'text' }
import { fillEmailKeys } from './0016_email_keys.ts'
import keyAndSecretRights from './0017_key_and_secret_rights.sql' with { type: 'text' }
import domainClaims from './0018_domain_claims.sql' with { type: 'text' }
import webhooks from './0019_webhooks.sql' with { type: 'text' }
import aliasReasons from './0020_alias_reasons.sql' with { type: 'text' }
import deviceLogin from './0021_device_login.sql' with { type: 'text' }
import versions from './0022_versions.sql' with { type: 'text' }
import { addVersionHosts } from './0022_versions.ts'
import previews from './0023_previews.sql' with { type: 'text' }
import retentionAndQuotas from './0024_retention_and_quotas.sql' with { type: 'text' }
import mailNotices from './0025_mail_notices.sql' with { type: 'text' }
import routingFiles from './0026_routing_files.sql' with { type: 'text' }
import siteSettings from './0027_site_settings.sql' with { type: 'text' }
import deploymentReports from './0028_deployment_reports.sql' with { type: 'text' }
import releaseChecks from './0029_release_checks.sql' with { type: 'text' }
import cdnPurges from './0031_cdn_purges.sql' with { type: 'text' }
import storedObjects from './0032_stored_objects.sql' with { type: 'text' }
import machineEpochs from './0033_machine_epochs.sql' with { type: 'text' }
import deploymentNumbers from './0034_deployment_numbers.sql' with { type: 'text' }
import { fillTitles } from './0034_deployment_numbers.ts'
import people from './0035_people.sql' with { type: 'text' }
import undo from './0036_undo.sql' with { type: 'text' }
import failingRuns from './0037_failing_runs.sql' with { type: 'text' }
import projectFiles from './0038_project_files.sql' with { type: 'text' }
import schedules from './0039_schedules.sql' with { type: 'text' }
import modelTokens from './0040_model_tokens.sql' with { type: 'text' }
import ruleTargets from './0041_rule_targets.sql' with { type: 'text' }

/** Append only: an applied migration is never edited, renamed or reordered. Imported as text, so they are in the executable. */
export const migrations: readonly Migration[] = [
  { name: '0001_foundation', sql: foundation },
  { name: '0002_rules', sql: rules },
  { name: '0003_records', sql: records },
  { name: '0004_handed_over_sessions', sql: handedOverSessions },
  { name: '0005_domain_checks', sql: domainChecks },
  { name: '0006_lists', sql: lists },
  { name: '0007_published_uploads', sql: publishedUploads },
  { name: '0008_large_lists', sql: largeLists },
  { name: '0009_removed_projects', sql: removedProjects },
  { name: '0010_audit_names', sql: auditNames },
  { name: '0011_damaged_contents', sql: damagedContents },
  { name: '0012_expiry_and_filters', sql: expiryAndFilters },
  { name: '0013_content_numbers', sql: contentNumbers },
  { name: '0014_content_text', sql: contentText },
  { name: '0015_project_variants', sql: projectVariants },
  { name: '0016_email_keys', sql: emailKeys, complete: fillEmailKeys },
  { name: '0017_key_and_secret_rights', sql: keyAndSecretRights },
  { name: '0018_domain_claims', sql: domainClaims },
  { name: '0019_webhooks', sql: webhooks },
  { name: '0020_alias_reasons', sql: aliasReasons },
  { name: '0021_device_login', sql: deviceLogin },
  { name: '0022_versions', sql: versions, complete: addVersionHosts, rebuildsTables: true },
  { name: '0023_previews', sql: previews },
  { name: '0024_retention_and_quotas', sql: retentionAndQuotas },
  { name: '0025_mail_notices', sql: mailNotices },
  { name: '0026_routing_files', sql: routingFiles },
  { name: '0027_site_settings', sql: siteSettings },
  { name: '0028_deployment_reports', sql: deploymentReports },
  { name: '0029_release_checks', sql: releaseChecks },
  { name: '0031_cdn_purges', sql: cdnPurges },
  { name: '0032_stored_objects', sql: storedObjects },
  { name: '0033_machine_epochs', sql: machineEpochs },
  { name: '0034_deployment_numbers', sql: deploymentNumbers, complete: fillTitles },
  { name: '0035_people', sql: people },
  { name: '0036_undo', sql: undo },
  { name: '0037_failing_runs', sql: failingRuns },
  { name: '0038_project_files', sql: projectFiles },
  { name: '0039_schedules', sql: schedules },
  { name: '0040_model_tokens', sql: modelTokens },
  { name: '0041_rule_targets', sql: ruleTargets, rebuildsTables: true },
]

/**
 * `complete` does what SQL cannot, in the same transaction. `rebuildsTables`: a table that others refer to is dropped and made
 * again with the same ids, so that foreign keys are off meanwhile.
 */
export type Migration = {
  name: string
  sql: string
  complete?: (sqlite: Database) => void
  rebuildsTables?: true
}
