import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { encodeFrame, type FrameEvent, FrameReader, OPCODE, SocketFailure } from './frames.ts'

/** A frame as a server sends it: unmasked. */
function served(opcode: number, payload: string | Uint8Array, first = 0x80): Buffer {
  const body = Buffer.from(payload as string)
  const head = body.length < 126 ? [body.length] : [126, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([first | opcode, ...head]), body])
}

function readAll(bytes: Uint8Array, piece: number, max = 1_000_000): FrameEvent[] {
  const reader = new FrameReader(max)
  const events: FrameEvent[] = []
  for (let at = 0; at < bytes.length; at += piece) events.push(...reader.read(bytes.subarray(at, at + piece)))
  return events
}

const conversation = Buffer.concat([
  served(OPCODE.text, 'one'),
  served(OPCODE.text, ''),
  served(OPCODE.text, 'ä', 0),
  served(OPCODE.ping, 'in between'),
  served(OPCODE.continuation, 'ö', 0),
  served(OPCODE.continuation, '!'),
  served(OPCODE.pong, ''),
  served(OPCODE.binary, Buffer.alloc(300, 7)),
  served(OPCODE.close, Buffer.concat([Buffer.from([0x0f, 0xa1]), Buffer.from('bye')])),
])

test('frames are assembled, however their bytes arrive', () => {
  const whole = readAll(conversation, conversation.length)
  expect(whole).toEqual([
    { kind: 'message', message: 'one' },
    { kind: 'message', message: '' },
    { kind: 'ping', payload: new Uint8Array(Buffer.from('in between')) },
    { kind: 'message', message: 'äö!' },
    { kind: 'message', message: new Uint8Array(300).fill(7) },
    { kind: 'close', code: 4001, reason: 'bye' },
  ])
  for (const piece of [1, 2, 3, 7, 64]) expect(readAll(conversation, piece)).toEqual(whole)
})

test('a message of many tiny frames only needs the memory of its bytes', () => {
  const reader = new FrameReader(1_000_000)
  const pair = [served(OPCODE.continuation, 'x', 0), served(OPCODE.continuation, '', 0)]
  const frames = Buffer.concat([
    served(OPCODE.text, '', 0),
    ...Array.from({ length: 50_000 }, () => pair).flat(),
  ])
  const before = arraysAlive()
  expect([...reader.read(frames)]).toEqual([])
  expect(arraysAlive() - before).toBeLessThan(1000)
  expect([...reader.read(served(OPCODE.continuation, '!'))]).toEqual([
    { kind: 'message', message: `${'x'.repeat(50_000)}!` },
  ])
})

function arraysAlive(): number {
  Bun.gc(true)
  return heapStats().objectTypeCounts['Uint8Array'] ?? 0
}

test.each([
  ['masked by a server', Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5]), 1002],
  ['with an unnegotiated bit', served(OPCODE.text, 'x', 0xc0), 1002],
  ['of an unknown kind', served(3, 'x'), 1002],
  ['a ping in parts', served(OPCODE.ping, 'x', 0), 1002],
  ['a ping that is too long', served(OPCODE.ping, 'x'.repeat(126)), 1002],
  ['going on without a beginning', served(OPCODE.continuation, 'x'), 1002],
  ['beginning twice', Buffer.concat([served(OPCODE.text, 'x', 0), served(OPCODE.text, 'y')]), 1002],
  ['a close of one byte', served(OPCODE.close, 'x'), 1002],
  ['text that is not UTF-8', served(OPCODE.text, Buffer.from([0xc3, 0x28])), 1007],
  ['too long', served(OPCODE.text, 'x'.repeat(1001)), 1009],
  [
    'too long in parts',
    Buffer.concat([served(OPCODE.text, 'x'.repeat(600), 0), served(OPCODE.continuation, 'x'.repeat(600))]),
    1009,
  ],
  ['of 2^63 bytes', Buffer.from([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]), 1009],
])('%s: refused with the code of RFC 6455', (_, bytes, code) => {
  const read = () => readAll(bytes, bytes.length, 1000)
  expect(read).toThrow(SocketFailure)
  try {
    read()
  } catch (error) {
    expect(error).toMatchObject({ code })
  }
})

test.each([0, 1, 125, 126, 65_535, 65_536])(
  'a frame of %d bytes is masked, and has the same payload once unmasked',
  (length) => {
    const payload = crypto.getRandomValues(new Uint8Array(length).subarray(0, Math.min(length, 65_536)))
    const frame = Buffer.from(encodeFrame(OPCODE.binary, payload))
    expect(frame[0]).toBe(0x82)
    expect((frame[1] ?? 0) & 0x80).toBe(0x80)
    const mask = frame.subarray(frame.length - length - 4, frame.length - length)
    const body = frame.subarray(frame.length - length).map((byte, i) => byte ^ (mask[i & 3] ?? 0))
    expect(Buffer.from(body).equals(payload)).toBe(true)
  },
)
