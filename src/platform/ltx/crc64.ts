/**
 * CRC-64/GO-ISO (ISO 3309: x^64 + x^4 + x^3 + x + 1, reflected, all ones in and out), as LTX files have it. Kept as two halves of
 * 32 bits, as numbers of 64 bits are slow here. The polynomial is so short that 32 bits at a time need four shifts and no table.
 */
export class Crc64 {
  #high = -1
  #low = -1

  update(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const whole = bytes.length - (bytes.length % 4)
    let high = this.#high
    let low = this.#low
    let at = 0
    for (; at < whole; at += 4) {
      const word = low ^ view.getInt32(at, true)
      low = high ^ (word << 31) ^ (word << 29) ^ (word << 28)
      high = reduced(word)
    }
    for (; at < bytes.length; at += 1) {
      const byte = (low ^ view.getUint8(at)) << 24
      low = (low >>> 8) | (high << 24)
      high = (high >>> 8) ^ reduced(byte)
    }
    this.#high = high
    this.#low = low
  }

  /** Of 64 bits. */
  get value(): bigint {
    return (BigInt(~this.#high >>> 0) << 32n) | BigInt(~this.#low >>> 0)
  }
}

/** What the bits that leave at one end become at the other: x^64 is x^4 + x^3 + x + 1. */
const reduced = (bits: number): number => bits ^ (bits >>> 1) ^ (bits >>> 3) ^ (bits >>> 4)
