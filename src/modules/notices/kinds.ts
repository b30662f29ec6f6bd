/** Mails that somebody can turn off, with who they are for: everybody, admins of the workspace, or of a project with them. */
export const NOTICES = {
  newDevice: 'everybody',
  backupFailed: 'workspace',
  certificateFailing: 'workspace',
  diskLow: 'workspace',
  webhookFailing: 'project',
} as const

export type NoticeId = keyof typeof NOTICES
export type MailKind = NoticeId | 'invitation'
/** Those that tell of the workspace's state. */
export type AdminNotice = Exclude<NoticeId, 'newDevice'>

export const NOTICE_IDS = Object.keys(NOTICES) as NoticeId[]

export const isNoticeId = (text: string): text is NoticeId => Object.hasOwn(NOTICES, text)
