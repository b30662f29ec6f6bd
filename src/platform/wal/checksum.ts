/** The running checksum of a log: two numbers of 32 bits. */
export type Sum = readonly [number, number]

const HEADER_SIZE = 32
const FRAME_HEADER = 24

/** Goes on with a header of 32 bytes (of which 24 count), or a frame (8 bytes of its header, and its page). */
export function frameSum(bytes: Uint8Array, isBigEndian: boolean, before: Sum): Sum {
  if (bytes.length === HEADER_SIZE) return sumOf(bytes, { from: 0, to: 24 }, isBigEndian, before)
  const ofHeader = sumOf(bytes, { from: 0, to: 8 }, isBigEndian, before)
  return sumOf(bytes, { from: FRAME_HEADER, to: bytes.length }, isBigEndian, ofHeader)
}

function sumOf(
  bytes: Uint8Array,
  { from, to }: { from: number; to: number },
  isBigEndian: boolean,
  [first, second]: Sum,
): Sum {
  const view = new DataView(bytes.buffer, bytes.byteOffset + from, to - from)
  let a = first | 0
  let b = second | 0
  for (let at = 0; at < to - from; at += 8) {
    a = (a + view.getInt32(at, !isBigEndian) + b) | 0
    b = (b + view.getInt32(at + 4, !isBigEndian) + a) | 0
  }
  return [a >>> 0, b >>> 0]
}
