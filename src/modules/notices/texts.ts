import { oneLine } from '../../domain/one-line.ts'

/** Plain text can be read everywhere, and does not teach people to trust the picture of a button. */
export type MailText = { subject: string; text: string }

const MAX_NAME = 120
const MAX_FACT = 300

/** What people wrote themselves. */
const name = (text: string): string => oneLine(text, MAX_NAME)
const fact = (text: string): string => oneLine(text, MAX_FACT)

type Link = { url: string; until: string }

export const projectInvitation = (
  { by, project, role }: { by: string | null; project: { owner: string; name: string }; role: string },
  { url, until }: Link,
): MailText => ({
  subject: `Invitation to ${project.owner}/${project.name}`,
  text: `Hello,

${by === null ? 'you are invited' : `${name(by)} invites you`} to ${project.owner}/${project.name}, as ${role}. To accept, open this link:

${url}

It works once, until ${until}.

If you do not know what this is about, ignore this mail.
`,
})

export const accountInvitation = (
  { by, workspace }: { by: string | null; workspace: string },
  { url, until }: Link,
): MailText => ({
  subject: `Your account on ${new URL(workspace).host}`,
  text: `Hello,

${by === null ? 'an account was made' : `${name(by)} made an account`} for you on ${workspace}. Open this link and choose a password:

${url}

It works once, until ${until}.

If you do not know what this is about, ignore this mail.
`,
})

/** `device`: what a command line calls itself; null for a browser. */
export const newDevice = (
  facts: { at: string; ip: string; userAgent: string; device: string | null },
  adminUrl: string,
): MailText => ({
  subject: 'New sign-in to your account',
  text: `Hello,

somebody signed in to your account ${facts.device === null ? 'with a browser that has not been used for it before' : 'on a command line, by svc login'}:

Time: ${facts.at}
Address: ${facts.ip}
${facts.device === null ? '' : `Name: ${fact(facts.device)}\n`}Program: ${fact(facts.userAgent) || 'unknown'}

If that was you, there is nothing to do. If not, end the session and change your password:

${adminUrl}/account#sessions
${turnOffAt(adminUrl)}`,
})

export const backupFailed = (message: string, adminUrl: string): MailText => ({
  subject: 'A backup failed',
  text: `Hello,

the last backup of ${adminUrl} failed:

${fact(message)}

${adminUrl}/admin/backups
${turnOffAt(adminUrl)}`,
})

/** `expiresAt` null: there is no certificate. */
export const certificateFailing = (
  { host, expiresAt, error }: { host: string; expiresAt: string | null; error: string | null },
  adminUrl: string,
): MailText => ({
  subject: `No good certificate for ${host}`,
  text: `Hello,

${expiresAt === null ? `${host} has no certificate.` : `the certificate of ${host} ends at ${expiresAt}.`}
${error === null ? 'It was not renewed yet.' : `The last order failed: ${fact(error)}`}

${adminUrl}/admin/health
${turnOffAt(adminUrl)}`,
})

export const diskLow = (
  { freeBytes, totalBytes, floorBytes }: { freeBytes: number; totalBytes: number; floorBytes: number },
  adminUrl: string,
): MailText => ({
  subject: 'The disk is nearly full',
  text: `Hello,

the disk of ${adminUrl} has ${megabytes(freeBytes)} of ${megabytes(totalBytes)} left. Below ${megabytes(floorBytes)} nothing can be published.

${adminUrl}/admin/storage
${turnOffAt(adminUrl)}`,
})

export const webhookFailing = (
  { hook, path, error }: { hook: string; path: string; error: string },
  adminUrl: string,
): MailText => ({
  subject: `The webhook ${name(hook)} fails`,
  text: `Hello,

the last three deliveries of the webhook ${name(hook)} failed. The last one: ${fact(error)}

${adminUrl}${path}
${turnOffAt(adminUrl)}`,
})

export const testMail = (adminUrl: string): MailText => ({
  subject: `Test mail of ${new URL(adminUrl).host}`,
  text: `Hello,

this is a test. Mails of ${adminUrl} arrive here.
`,
})

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`

const turnOffAt = (adminUrl: string): string =>
  `\nYou can turn this notice off: ${adminUrl}/account#notices\n`
