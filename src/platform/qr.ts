import { encodeQR } from 'qr'

/** Quiet zone around the code, in modules. ISO/IEC 18004 §6.3.8. */
const BORDER = 4

/** A QR code as SVG, black on white on any background. */
export const qrSvg = (text: string): string =>
  encodeQR(text, 'svg', { ecc: 'medium', border: BORDER }).replace(
    '>',
    '><rect width="100%" height="100%" fill="#fff"/>',
  )
