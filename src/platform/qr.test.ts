import { expect, test } from 'bun:test'
import { qrSvg } from './qr.ts'

test('a QR code is one SVG, black on white, without scripts', () => {
  const svg = qrSvg('otpauth://totp/svc:ann%40example.com?secret=ABCDEFGHIJKLMNOPABCDEFGHIJKLMNOP&issuer=svc')
  expect(svg).toStartWith('<svg')
  expect(svg).toContain('fill="#fff"')
  expect(svg).toEndWith('</svg>')
  expect(svg).not.toMatch(/script|on\w+=|href/)
  // A different text gives a different code.
  expect(svg).not.toBe(qrSvg('otpauth://totp/svc:bob?secret=ABCDEFGHIJKLMNOP&issuer=svc'))
})
