import type { Transporter } from 'nodemailer'
import { isLoopback } from '../domain/ip-ranges.ts'
import { isRecord } from '../domain/is-record.ts'
import { oneLine } from '../domain/one-line.ts'

export type Mail = {
  to: readonly string[]
  subject: string
  text: string
  replyTo?: string
  /** Nobody wrote it: no vacation answers to it. RFC 3834 §5. */
  isAutomatic?: true
  /** It holds nothing that must not be shown: what the mail server says about it may be reported. */
  mayQuote?: true
}

/**
 * Sends mails. `send` resolves when the mail server has accepted the mail, and rejects with `MailError` if it did not.
 */
export type Mailer = {
  /** False if no mail server is set up; `send` throws then. */
  isConfigured: boolean
  send(mail: Mail): Promise<void>
  close(): void
}

/**
 * Why a mail was not sent, in one line for the log: without a password, and without any part of the mail, which may
 * contain a link.
 */
export class MailError extends Error {}

const CONNECT_MS = 10_000
const SILENCE_MS = 30_000

/**
 * `smtpUrl`: `smtp://user:password@host:587` or `smtps://…`; null for none. nodemailer is loaded with the first mail.
 */
export function createMailer(smtpUrl: string | null, from: string): Mailer {
  let transport: Promise<Transporter> | undefined
  return {
    isConfigured: smtpUrl !== null,
    async send({ to, replyTo, isAutomatic, mayQuote = false, ...rest }) {
      if (smtpUrl === null) throw new Error('No mail server is set up: SMTP_URL is not set')
      const people = { to: to.map(exactly), ...(replyTo && { replyTo: exactly(replyTo) }) }
      const headers = isAutomatic ? { 'Auto-Submitted': 'auto-generated' } : {}
      transport ??= connect(smtpUrl)
      await (await transport)
        .sendMail({ from, headers, ...rest, ...people })
        .catch((error) => failPlainly(error, mayQuote, credentialsOf(smtpUrl)))
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
 * A password is only sent over TLS, because an attacker in between could suppress STARTTLS and read it. An operator can
 * allow it with `?ignoreTLS=true` in the URL. A connection to this machine needs no TLS.
 */
function mustEncrypt({ protocol, username, hostname, searchParams }: URL): boolean {
  if (protocol !== 'smtp:' || username === '' || hostname === 'localhost' || isLoopback(hostname))
    return false
  return !searchParams.has('ignoreTLS') && !searchParams.has('requireTLS')
}

/** Excludes the characters that separate addresses in a header or enclose one. RFC 5322 §3.4. */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+$/u

/** Whether mails can be sent to this address. */
export const isMailable = (address: string): boolean => ADDRESS.test(address)

/** Sends to exactly this address: an account may be called `ann@example.com,x`, and its mails must not reach Ann. */
function exactly(address: string): { name: string; address: string } {
  if (!isMailable(address)) throw new MailError('Mail cannot be sent to this address')
  return { name: '', address }
}

const MAX_LENGTH = 300
/** Replaces the server's words, by the error code of nodemailer. */
const REFUSED: Readonly<Record<string, string>> = {
  EAUTH: 'it rejects the user name or the password',
  EMESSAGE: 'it rejects the mail itself',
  ETLS: 'it offers no STARTTLS, and mails are only sent over TLS',
}

/**
 * Servers quote what they reject: a spam filter quotes the link that it dislikes, and that link may set a password.
 * What they say about the addresses, before they have seen the mail, is safe to report.
 */
function failPlainly(error: unknown, mayQuote: boolean, credentials: readonly string[]): never {
  const message = error instanceof Error ? error.message : String(error)
  const { code, response, responseCode } = isRecord(error) ? error : {}
  const mayTell = mayQuote || response === undefined || code === 'EENVELOPE'
  const line = mayTell
    ? oneLine(credentials.reduce(withoutText, message), MAX_LENGTH)
    : `${REFUSED[String(code)] ?? code} (${responseCode || 'no number'})`
  throw new MailError(`The mail server did not accept the mail: ${line}`)
}

const withoutText = (text: string, secret: string): string => text.replaceAll(secret, '[redacted]')

/** The forms in which a password is sent, which a server may quote. RFC 4616, and LOGIN. */
function credentialsOf(smtpUrl: string): string[] {
  const url = new URL(smtpUrl)
  if (url.password === '') return []
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const asBase64 = [`\0${user}\0${password}`, password].map((text) => Buffer.from(text).toString('base64'))
  return [...asBase64, password, url.password]
}
