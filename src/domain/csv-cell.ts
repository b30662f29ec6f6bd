/** How a spreadsheet formula starts: full-width signs count in East Asia; some skip a line break or tab. */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/

/**
 * A cell, quoted if necessary (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe in
 * front. Numbers do not, even with a minus.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
