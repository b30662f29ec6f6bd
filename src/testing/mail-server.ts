import { SMTPServer } from 'smtp-server'

type ReceivedMail = { from: string; to: string[]; raw: string; text: string }

/** A real SMTP server on loopback that stores what it receives. */
export type MailServer = {
  url: string
  mails: ReceivedMail[]
  /** Returns the next mail that nobody has read yet, and waits for it if necessary. */
  next(): Promise<ReceivedMail>
  close(): Promise<void>
}

/** What it answers instead of taking a mail: to an address, and to a whole mail, perhaps later. */
type Refusals = {
  ofAddress?: (address: string) => string | undefined
  ofMail?: (mail: ReceivedMail) => string | undefined | Promise<string | undefined>
}

export async function mailServer({ ofAddress, ofMail }: Refusals = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  let asked = 0
  let wake = () => {}
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 10,
    onRcptTo: ({ address }, _session, done) => done(refusal(ofAddress?.(address))),
    async onData(stream, session, done) {
      let raw = ''
      for await (const piece of stream) raw += String(piece)
      const { mailFrom, rcptTo } = session.envelope
      const mail = {
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        raw,
        text: unfold(raw.slice(raw.indexOf('\r\n\r\n') + 4)),
      }
      const refused = refusal(await ofMail?.(mail))
      if (refused === null) mails.push(mail)
      done(refused)
      wake()
    },
  })
  // A client may leave in the middle of a mail.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    async next() {
      while (mails[asked] === undefined)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      asked += 1
      return mails[asked - 1] as ReceivedMail
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

const refusal = (text: string | undefined): Error | null =>
  text === undefined ? null : Object.assign(new Error(text), { responseCode: 550 })

/** Decodes quoted-printable, which is used for long lines. RFC 2045 §6.7. */
function unfold(body: string): string {
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
