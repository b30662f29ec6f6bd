/** `NAME=value` as systemd reads it. Its bytes are from `start` to `end`, without the line end. */
type Assignment = { name: string; value: string; start: number; end: number }

type EnvFile = {
  assignments: Assignment[]
  /** It ends inside a quoted value, which would take in whatever is put behind it. */
  isOpen: boolean
}

/** What a service is given that has the bytes as its `EnvironmentFile`: of a name that is there twice, the last value. */
export const valuesOf = (bytes: Uint8Array): Record<string, string> =>
  Object.fromEntries(parse(textOf(bytes)).assignments.map(({ name, value }) => [name, value]))

/**
 * The bytes with these values: where a name has one already, the last of them is replaced; the others are put at the end.
 * All other bytes stay. Undefined if nothing can be put behind the file, because it ends inside a quoted value.
 */
export function withValues(
  bytes: Uint8Array,
  values: Readonly<Record<string, string>>,
): Uint8Array | undefined {
  let text = textOf(bytes)
  const { assignments, isOpen } = parse(text)
  if (isOpen && Object.keys(values).length > 0) return undefined
  const added: string[] = []
  const changed: { line: string; at: Assignment }[] = []
  for (const [name, value] of Object.entries(values)) {
    const at = assignments.findLast((one) => one.name === name)
    const line = textOf(Buffer.from(`${name}=${quoted(value)}`))
    if (at === undefined) added.push(line)
    else if (at.value !== value) changed.push({ line, at })
  }
  for (const { line, at } of changed.sort((a, b) => b.at.start - a.at.start))
    text = text.slice(0, at.start) + line + text.slice(at.end)
  return Buffer.from(added.length === 0 ? text : withLines(text, added), 'latin1')
}

/** One character for each byte, so that what is no UTF-8 stays as it is. */
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8')

/** With the line end of the file. What ends in a backslash goes on in the next line, so one stays empty. */
function withLines(text: string, lines: readonly string[]): string {
  const [lineEnd = '\n'] = /\r\n|\n/.exec(text) ?? []
  const ended = text === '' || /[\r\n]$/.test(text) ? text : text + lineEnd
  const apart = /\\(\r\n|\r|\n)?$/.test(text) ? lineEnd : ''
  return ended + apart + lines.map((line) => line + lineEnd).join('')
}

/** As systemd and a shell read it alike. */
const quoted = (value: string): string =>
  /^[\w./:@%+,=-]*$/.test(value) ? value : `"${value.replace(/["\\`$]/g, '\\$&')}"`

/** As `EnvironmentFile` is read: systemd.exec(5), and `parse_env_file_internal` for what that leaves open. */
function parse(text: string): EnvFile {
  const assignments: Assignment[] = []
  for (let at = matchAt(BLANKS, text, 0); at < text.length; at = matchAt(BLANKS, text, at)) {
    const pastComment = matchAt(COMMENT, text, at)
    const pastName = matchAt(NAME, text, at)
    if (pastComment > at || text[pastName] !== '=') {
      at = Math.max(pastComment, pastName, at + 1)
      continue
    }
    const { value, end, isOpen } = valueAt(text, pastName + 1)
    const name = text.slice(at, pastName).replace(/[ \t]+$/, '')
    assignments.push({ name: utf8(name), value: utf8(value), start: at, end })
    if (isOpen) return { assignments, isOpen }
    at = end
  }
  return { assignments, isOpen: false }
}

const BLANKS = /[ \t\r\n]*/y
/** Before version 254 one whose line ends in a backslash went on in the next line. */
const COMMENT = /([#;](\\[\s\S]|[^\\\r\n])*)?/y
const NAME = /[^=\r\n]*/y

/** Where the match that begins at `at` ends. */
function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}

type Value = { value: string; end: number; isOpen: boolean }

/** Quotes count at its beginning only; blanks around it do not count. */
function valueAt(text: string, start: number): Value {
  let value = ''
  /** How much of the value is more than blanks at its end. */
  let solid = 0
  let isPlain = false
  let at = start
  for (let next = text[at]; next !== undefined && next !== '\r' && next !== '\n'; next = text[at]) {
    if (!isPlain && (next === "'" || next === '"')) {
      const part = quotedAt(text, at)
      if (part.isOpen) return part
      value += part.value
      at = part.end
      solid = value.length
      continue
    }
    const isBlank = next === ' ' || next === '\t'
    if (!isBlank) isPlain = true
    if (next === '\\') {
      at += 1
      next = /[\r\n]/.test(text[at] ?? '') ? '' : (text[at] ?? '')
    }
    if (isPlain) value += next
    if (!isBlank) solid = value.length
    at += 1
  }
  return { value: value.slice(0, solid), end: Math.min(at, text.length), isOpen: false }
}

function quotedAt(text: string, start: number): Value {
  const mark = text[start]
  let value = ''
  for (let at = start + 1; at < text.length; at += 1) {
    const next = text[at] ?? ''
    if (next === mark) return { value, end: at + 1, isOpen: false }
    if (mark === "'" || next !== '\\') {
      value += next
      continue
    }
    at += 1
    const escaped = text[at] ?? ''
    if (/["\\`$]/.test(escaped)) value += escaped
    else if (escaped !== '\n') value += `\\${escaped}`
  }
  return { value, end: text.length, isOpen: true }
}
