import type { SecretBox } from '../../platform/secret-box.ts'
import type { MailText } from './texts.ts'

/** A sealed text is bound to its mail. */
export const mailSealContext = (mailId: string): string => `mails ${mailId}`

export const sealMail = (box: SecretBox, mailId: string, { subject, text }: MailText): string =>
  box.seal(JSON.stringify({ subject, text }), mailSealContext(mailId))

export const openMail = (box: SecretBox, mailId: string, sealed: string): MailText =>
  JSON.parse(box.open(sealed, mailSealContext(mailId))) as MailText
