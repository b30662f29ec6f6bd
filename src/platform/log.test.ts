import { expect, test } from 'bun:test'
import { createLog } from './log.ts'

function linesOf(format: 'json' | 'pretty', fields: Record<string, unknown>): string {
  let text = ''
  const log = createLog({ level: 'info', format, now: () => 0, write: (line) => (text += line) })
  log.error('failed', fields)
  return text
}

const hostile = new Error('no file \x1b[2J\u009b31m for this name')

test('an error with text of a visitor cannot move the cursor', () => {
  for (const format of ['json', 'pretty'] as const) {
    const text = linesOf(format, { error: hostile, path: '/\x1b[2Ja\nb' })
    expect(text).toContain('for this name')
    expect(text).not.toContain('\x1b')
  }
  expect(linesOf('pretty', { error: hostile })).not.toContain('\u009b')
})

test('JSON is one line, including the cause', () => {
  const text = linesOf('json', { error: new Error('outer', { cause: new Error('inner\nsecond') }) })
  expect(text.split('\n')).toHaveLength(2)
  expect(text).toContain('inner')
})

test('a field that JSON cannot represent is named, and nothing fails', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  for (const error of [circular, 10n, new Error('outer', { cause: circular })]) {
    expect(JSON.parse(linesOf('json', { error }))).toMatchObject({ message: 'failed', unwritable: 'error' })
    expect(linesOf('pretty', { error, host: 'a.example' })).toContain('host=a.example')
  }
})
