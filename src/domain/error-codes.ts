/**
 * The codes that say more than a reason phrase does, with what they mean: `error` of a response names one of them where there
 * is one. The API's document lists them. contract §2.
 */
export const ERROR_CODES = {
  ADMIN_HOST_ONLY: 'on a site a session cannot do this; the admin host can',
  ALIAS_IN_USE: 'a domain or a traffic split names the alias',
  API_KEY_SUSPENDED: 'who made the key may not make it any more; an administrator can take it over',
  ARCHIVE_AS_FILE: 'an archive was sent as the only file; asFiles=true publishes it as it is',
  BACKUPS_NOT_SET_UP: 'the server has no BACKUP_DIR',
  CROSS_ORIGIN_REQUEST: 'a page of another site sent this',
  EMAIL_ALREADY_EXISTS_ERROR: 'sign in instead',
  EMAIL_NOT_CONFIGURED: 'the server has no SMTP_URL',
  HEADERS_BASIC_AUTH: 'a _headers file asks for a password; make the project or the alias private instead',
  INSUFFICIENT_SCOPE: 'the validator asks for scopes, which keys do not have',
  INVITATION_INVALID: 'the invitation is used, expired or for another email',
  MFA_CODE_INVALID: 'the second step failed',
  MFA_REQUIRED: 'send a code of the second step, too',
  MFA_TICKET_INVALID: 'the second step took too long; start again',
  NOTHING_TO_ROLL_BACK_TO: 'the alias has shown no other deployment that still exists',
  OIDC_ISSUER_MISMATCH: 'the provider is another issuer than the settings say',
  PROXY_TARGET_NOT_ALLOWED: 'the target is private',
  PROXY_TARGET_NOT_HTTPS: 'targets are HTTPS',
  PUBLIC_SIGNUP_DISABLED: 'ask for an invitation',
  QUERY_TOO_LARGE: 'the result of a data_query is too large; narrow it with filters, select or limit',
  RECORD_TOO_LARGE: 'the fields exceed MAX_RECORD_BYTES',
  RESET_TOKEN_INVALID: 'the link is used or expired',
  SANDBOX_BUSY: 'too many functions run; try again',
  SECRET_NOT_USABLE: 'the rule uses a secret that only project admins may use in rules',
  SETUP_TOKEN_REQUIRED: 'the log of the server has it',
  SIGN_IN_CODE_INVALID: 'the sign-in took too long; start again',
  TOO_MANY_WEBHOOKS: 'a project, and the workspace, has at most 50',
  UPLOAD_INCOMPLETE: 'files of the manifest are missing; send the rest',
  WEBHOOK_IS_OFF: 'a webhook that is off sends nothing',
  WRONG_CREDENTIALS_ERROR: 'email or password is wrong',
  access_denied: 'the person refused the device (RFC 8628)',
  authorization_pending: 'nobody has decided about the device yet (RFC 8628)',
  expired_token: 'the device code is too old; begin anew (RFC 8628)',
  invalid_grant: 'the device code is unknown or was used (RFC 6749)',
  slow_down: 'ask less often (RFC 8628)',
  unsupported_grant_type: 'only device codes are taken here (RFC 6749)',
} as const

export type ErrorCode = keyof typeof ERROR_CODES
