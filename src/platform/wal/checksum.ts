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
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let [a, b] = [first, second]
  for (let at = from; at < to; at += 8) {
    a = (a + view.getUint32(at, !isBigEndian) + b) >>> 0
    b = (b + view.getUint32(at + 4, !isBigEndian) + a) >>> 0
  }
  return [a, b]
}
