import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** What a server sent on a connection until it or the test ended it. */
export type RawAnswer = { status: number; head: string; body: string; isClosed: boolean }

export type RawConnection = {
  write(bytes: string | Uint8Array): void
  /** Ends the connection with RST. */
  reset(): void
  end(): void
  /** Resolves with the first complete response, or with status 0 when the connection ends without one. */
  answer: Promise<RawAnswer>
  closed: Promise<void>
}

type Target = { port: number; isTls?: boolean; from?: string }

/** A connection on which a test writes bytes as it likes. */
export async function rawConnection({ port, isTls = false, from }: Target): Promise<RawConnection> {
  const options = {
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...(from === undefined ? {} : { localAddress: from }),
  }
  const socket = isTls ? connectTls(options) : connect(options)
  const opened = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<RawAnswer>()
  const closed = Promise.withResolvers<void>()
  let received = ''
  socket.on(isTls ? 'secureConnect' : 'connect', () => opened.resolve())
  socket.on('error', () => opened.resolve())
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    const found = parsed(received)
    if (found !== null) answer.resolve({ ...found, isClosed: false })
  })
  socket.on('close', () => {
    answer.resolve({ status: Number(received.slice(9, 12)), head: received, body: '', isClosed: true })
    closed.resolve()
  })
  await opened.promise
  return {
    write: (bytes) => void socket.write(bytes),
    reset: () => void socket.resetAndDestroy(),
    end: () => void socket.destroy(),
    answer: answer.promise,
    closed: closed.promise,
  }
}

/** Sends the pieces, with pauses of so many milliseconds where there is a number. */
export async function sendRaw(
  target: Target,
  pieces: readonly (string | Uint8Array | number)[],
): Promise<RawAnswer> {
  const connection = await rawConnection(target)
  for (const piece of pieces) {
    if (typeof piece === 'number') await Bun.sleep(piece)
    else connection.write(piece)
  }
  const answer = await connection.answer
  connection.end()
  return answer
}

/** A chunked body of one chunk, up to and with its last chunk, but without the empty line behind it. */
export const chunked = (body: string): string => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n`

function parsed(text: string): Omit<RawAnswer, 'isClosed'> | null {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = text.slice(0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const body = text.slice(end + 4, end + 4 + length)
  return body.length < length ? null : { status: Number(head.slice(9, 12)), head, body }
}
