import type { Transporter } from 'nodemailer'

export type Mail = { to: string; subject: string; text: string; replyTo?: string }

/** The way out for mails. Resolves when the mail server took the mail; throws when it did not. */
export type Mailer = {
  /** False where no mail server is set up; `send` throws then. */
  isConfigured: boolean
  send(mail: Mail): Promise<void>
  close(): void
}

const CONNECT_MS = 10_000
const SILENCE_MS = 30_000

/** `smtpUrl`: `smtp://user:password@host:587` or `smtps://…`; null for none. nodemailer is loaded with the first mail. */
export function createMailer(smtpUrl: string | null, from: string): Mailer {
  let transport: Promise<Transporter> | undefined
  return {
    isConfigured: smtpUrl !== null,
    async send(mail) {
      if (smtpUrl === null) throw new Error('No mail server is set up: SMTP_URL is not set')
      transport ??= connect(smtpUrl)
      await (await transport).sendMail({ from, ...mail })
    },
    close: () => void transport?.then((open) => open.close()),
  }
}

async function connect(smtpUrl: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url: smtpUrl,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}
