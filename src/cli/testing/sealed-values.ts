import { join } from 'node:path'
import { openDb } from '../../db/open.ts'
import { sealMail } from '../../modules/notices/sealed.ts'
import { sealHeaderConfig } from '../../modules/proxy-rules/header-values.ts'
import { sealHeader, sealPart } from '../../modules/webhooks/sealed.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { readSecretKeys } from '../../platform/secret-keys.ts'

/** A second step, a project's secret, a header value, a webhook, a mail and the former state of a change, sealed with the key of the data folder. */
export function storeSealedValues(folder: string): void {
  const secrets = createSecretBox(readSecretKeys(join(folder, 'secret.key')))
  const { sqlite } = openDb(join(folder, 'svc.db'), 0)
  sqlite.run(
    `INSERT INTO users (id, email, role, totp_secret, created_at, updated_at)
     VALUES ('u', 'a@example.com', 'admin', ?, 0, 0)`,
    [secrets.seal('totp', 'totp u')],
  )
  sqlite.run(
    `INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
     VALUES ('p', 'acme', 'docs', 'docs', 1, 0, 'guest', 0, 0)`,
  )
  sqlite.run("INSERT INTO project_secrets VALUES ('p', 'KEY', ?, 0, 'contributor')", [
    secrets.seal('value', 'project:p:secret:KEY'),
  ])
  const options = { secrets, ruleId: 'r', stored: null, onEmpty: 'declare', isDropped: false } as const
  const headers = JSON.stringify(sealHeaderConfig({ add: { 'x-key': 'header', 'x-unset': '' } }, options))
  sqlite.run(
    `INSERT INTO proxy_rules VALUES ('r', 'p', NULL, NULL, '/a', NULL, NULL, 'external_proxy', 'https://a.example', 1, 0,
     30000, 0, 0, ?, NULL, 1, 0, NULL, 0, 0, 0, NULL)`,
    [headers],
  )
  const headersOfHook = JSON.stringify({ 'X-Key': sealHeader(secrets, 'h', 'X-Key', 'hook header') })
  sqlite.run("INSERT INTO webhooks VALUES ('h', 'p', 'chat', 'json', '[\"*\"]', ?, ?, ?, 1, NULL, 0, 0, 0)", [
    sealPart(secrets, 'h', 'url', 'https://chat.example/'),
    headersOfHook,
    sealPart(secrets, 'h', 'secret', 'hook secret'),
  ])
  sqlite.run(
    "INSERT INTO mails VALUES (1, 'm', 'invitation', 'b@example.com', NULL, NULL, NULL, ?, 'pending', NULL, 5, 0, 0, NULL)",
    [sealMail(secrets, 'm', { subject: 'Hello', text: 'a link' })],
  )
  sqlite.run(
    `INSERT INTO audit_log (id, at, actor_kind, credential, action, target_kind)
     VALUES ('e', 0, 'operator', '', 'alias.delete', 'alias')`,
  )
  sqlite.run("INSERT INTO undo_states VALUES ('e', 'p', 0, ?)", [
    JSON.stringify({ rules: [{ id: 'r', headerConfig: headers }] }),
  ])
  sqlite.close()
}
