import type { Tunnel } from '../http1/tunnel.ts'
import { FrameSender } from './frame-sender.ts'
import { encodeFrame, FrameReader, OPCODE, SocketFailure } from './frames.ts'

/** The events of a backend's WebSocket. `closed` comes last and once, with 1006 if there was no closing handshake. */
type BackendOwner = {
  /** Reading pauses until the result resolves. */
  received(message: string | Uint8Array): Promise<void> | void
  closed(code: number, reason: string): void
}

export type BackendSocket = {
  /** Sends in order. Closes the socket with 1013 if more than `maxWaiting` bytes are waiting for the backend. */
  send(message: string | Uint8Array): void
  close(code: number, reason: string): void
  cut(): void
}

const NO_STATUS = 1005
const ABNORMAL = 1006
const OVERLOADED = 1013

/** The client side of RFC 6455 over an upgraded connection, without extensions. */
export function openBackendSocket(
  tunnel: Tunnel,
  owner: BackendOwner,
  limits: { messageBytes: number; maxWaiting: number },
): BackendSocket {
  let hasEnded = false
  let hasSentClose = false

  const end = (code: number, reason: string) => {
    if (hasEnded) return
    hasEnded = true
    tunnel.close()
    owner.closed(code, reason)
  }
  const sender = new FrameSender(tunnel, () => end(ABNORMAL, ''))
  const write = (opcode: number, payload: Uint8Array) => {
    if (hasEnded || hasSentClose) return
    hasSentClose = opcode === OPCODE.close
    sender.send(encodeFrame(opcode, payload))
    if (sender.unsentBytes > limits.maxWaiting) end(OVERLOADED, 'The backend does not read')
  }
  const close = (code: number, reason: string) => {
    write(OPCODE.close, closePayload(code, reason))
  }

  void readAll(tunnel, limits.messageBytes, {
    onMessage: (message) => owner.received(message),
    onPing: (payload) => write(OPCODE.pong, payload),
    async onEnd(code, reason) {
      close(code, reason)
      await sender.flushed()
      end(code, reason)
    },
  })

  return {
    send(message) {
      const isText = typeof message === 'string'
      write(isText ? OPCODE.text : OPCODE.binary, isText ? new TextEncoder().encode(message) : message)
    },
    close,
    cut: () => end(ABNORMAL, ''),
  }
}

type FrameEvents = {
  onMessage(message: string | Uint8Array): Promise<void> | void
  onPing(payload: Uint8Array): void
  /** The backend has closed, or sent something invalid. */
  onEnd(code: number, reason: string): Promise<void>
}

async function readAll(tunnel: Tunnel, messageBytes: number, events: FrameEvents): Promise<void> {
  const frames = new FrameReader(messageBytes)
  try {
    for await (const bytes of tunnel.readable) {
      for (const event of frames.read(bytes)) {
        if (event.kind === 'message') await events.onMessage(event.message)
        else if (event.kind === 'ping') events.onPing(event.payload)
        else return await events.onEnd(event.code ?? NO_STATUS, event.reason)
      }
    }
    await events.onEnd(ABNORMAL, '')
  } catch (error) {
    if (error instanceof SocketFailure) await events.onEnd(error.code, error.message)
    else await events.onEnd(ABNORMAL, '')
  }
}

/** Codes that only describe an end are never sent. RFC 6455 §7.4.1. */
function closePayload(code: number, reason: string): Uint8Array {
  if (code === NO_STATUS || code === ABNORMAL || code === 1015) return new Uint8Array()
  const text = new TextEncoder().encode(reason).subarray(0, 123)
  return Buffer.concat([Buffer.from([code >> 8, code & 0xff]), text])
}
