import type { Transporter } from 'nodemailer'
import { isLoopback } from '../domain/ip-ranges.ts'
import { isRecord } from '../domain/is-record.ts'

export type Mail = { to: readonly string[]; subject: string; text: string; replyTo?: string }

/** The way out for mails. Resolves when the mail server took the mail; rejects with `MailError` when it did not. */
export type Mailer = {
  /** False where no mail server is set up; `send` throws then. */
  isConfigured: boolean
  send(mail: Mail): Promise<void>
  close(): void
}

/** Why a mail did not go out, in one line for the log: no part of the mail, which may hold a link, and no password. */
export class MailError extends Error {}

const CONNECT_MS = 10_000
const SILENCE_MS = 30_000

/** `smtpUrl`: `smtp://user:password@host:587` or `smtps://…`; null for none. nodemailer is loaded with the first mail. */
export function createMailer(smtpUrl: string | null, from: string): Mailer {
  let transport: Promise<Transporter> | undefined
  return {
    isConfigured: smtpUrl !== null,
    async send({ to, replyTo, ...rest }) {
      if (smtpUrl === null) throw new Error('No mail server is set up: SMTP_URL is not set')
      const people = { to: to.map(exactly), ...(replyTo && { replyTo: exactly(replyTo) }) }
      transport ??= connect(smtpUrl)
      await (await transport).sendMail({ from, ...rest, ...people }).catch(failPlainly)
    },
    close: () => void transport?.then((open) => open.close()),
  }
}

async function connect(smtpUrl: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url: smtpUrl,
    ...(mustEncrypt(new URL(smtpUrl)) && { requireTLS: true }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/**
 * A password goes out over TLS only: whoever sits on the way could leave out the offer of STARTTLS, and read it. An
 * operator who wants it otherwise says so in the address (`?ignoreTLS=true`). To this machine there is nobody on the way.
 */
function mustEncrypt({ protocol, username, hostname, searchParams }: URL): boolean {
  if (protocol !== 'smtp:' || username === '' || hostname === 'localhost' || isLoopback(hostname))
    return false
  return !searchParams.has('ignoreTLS') && !searchParams.has('requireTLS')
}

/** Without the signs that stand between addresses, or mark the one that counts, in a header. RFC 5322 §3.4. */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+$/u

/** This very address and no other: an account may be called `ann@example.com,x`, and its mails would reach Ann. */
function exactly(address: string): { name: string; address: string } {
  if (!ADDRESS.test(address)) throw new MailError('The address is none that mail can be sent to')
  return { name: '', address }
}

const MOST_LENGTH = 300
/** In place of the server's words, by the code of nodemailer. */
const REFUSED: Readonly<Record<string, string>> = {
  EAUTH: 'it refuses the user name or the password',
  EMESSAGE: 'it refuses the mail itself',
  ETLS: 'it offers no STARTTLS, and without TLS nothing goes out',
}

/**
 * Servers quote what they refuse: a filter names the link that it does not like, and that link sets a password. What they
 * say of the addresses, before they have seen the mail, is told.
 */
function failPlainly(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  const { code, response, responseCode } = isRecord(error) ? error : {}
  const mayTell = response === undefined || code === 'EENVELOPE'
  const line = mayTell
    ? message.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    : `${REFUSED[String(code)] ?? code} (${responseCode || 'no number'})`
  throw new MailError(`The mail server did not take the mail: ${line.slice(0, MOST_LENGTH)}`)
}
