import type { Mail } from '../../../platform/mail.ts'

/** Plain text can be read everywhere, and does not teach people to trust the picture of a button. */
export const resetMail = (to: string, url: string): Mail => ({
  to: [to],
  subject: 'Choose a new password',
  text: `Hello,

somebody asked for a new password for the account of ${to}. If that was you, open this link:

${url}

It works once, within an hour. Setting the password signs you out everywhere.

If it was not you, ignore this mail: nothing has changed.
`,
})
