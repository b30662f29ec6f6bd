/** The first match wins: Edge and Opera also say Chrome, and Chrome says Safari. */
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Headless)?(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
]

const SYSTEMS: readonly [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** `Firefox on Linux`. Leaves out an unknown system; an unknown browser is `Unknown browser`. */
export function describeUserAgent(userAgent: string | null): string {
  const browser = nameIn(BROWSERS, userAgent ?? '') ?? 'Unknown browser'
  const system = nameIn(SYSTEMS, userAgent ?? '')
  return system === undefined ? browser : `${browser} on ${system}`
}

function nameIn(table: readonly [RegExp, string][], text: string): string | undefined {
  return table.find(([pattern]) => pattern.test(text))?.[1]
}
