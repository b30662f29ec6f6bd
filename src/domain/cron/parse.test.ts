import { describe, expect, test } from 'bun:test'
import { type CronField, parseCron } from './parse.ts'

const wrong: [cron: string, field: CronField | null, says: string][] = [
  ['', null, 'has 0 fields'],
  ['* * * *', null, 'has 4 fields'],
  ['* * * * * *', null, 'has 6 fields'],
  ['0 0 0 1 1 ? 2027', null, 'has 7 fields'],
  ['60 * * * *', 'minute', '0 to 59'],
  ['-1 * * * *', 'minute', '0 to 59'],
  ['1.5 * * * *', 'minute', '0 to 59'],
  ['5/10 * * * *', 'minute', '/n behind * or a range'],
  ['*/0 * * * *', 'minute', 'step of 1 to 60'],
  ['*/61 * * * *', 'minute', 'step of 1 to 60'],
  ['*/2/3 * * * *', 'minute', '0 to 59'],
  ['1,,2 * * * *', 'minute', 'an empty value'],
  ['30-10 * * * *', 'minute', 'a range goes up'],
  ['1-2-3 * * * *', 'minute', '0 to 59'],
  ['* 24 * * *', 'hour', '0 to 23'],
  ['* ** * * *', 'hour', '0 to 23'],
  ['* * 0 * *', 'day of month', '1 to 31'],
  ['* * 32 * *', 'day of month', '1 to 31'],
  ['* * ? * 1', 'day of month', '1 to 31'],
  ['* * L * *', 'day of month', '1 to 31'],
  ['* * 15W * *', 'day of month', '1 to 31'],
  ['0 0 30 2 *', 'day of month', 'never comes'],
  ['0 0 31 2,4,6,9,11 *', 'day of month', 'never comes'],
  ['0 0 30,31 feb */2', 'day of month', 'never comes'],
  ['* * * 13 *', 'month', '1 to 12 or jan to dec'],
  ['* * * 0 *', 'month', '1 to 12'],
  ['* * * january *', 'month', 'jan to dec'],
  ['* * * * 8', 'day of week', '0 to 7 or sun to sat'],
  ['* * * * 5#3', 'day of week', '0 to 7'],
  ['* * * * 5L', 'day of week', '0 to 7'],
  ['@reboot', null, '@hourly, @daily'],
  ['@every 5m', null, '@hourly, @daily'],
  [`${'1,'.repeat(200)}1 * * * *`, null, 'more than 200 characters'],
]

test.each(wrong)('%p is refused and says where', (text, field, says) => {
  const parsed = parseCron(text)
  expect(parsed).toMatchObject({ ok: false, field })
  expect(parsed.ok ? '' : parsed.message).toContain(says)
  if (field !== null) expect(parsed.ok ? '' : parsed.message).toStartWith(`${field}: `)
})

const read = (text: string) => {
  const parsed = parseCron(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.cron
}
const marked = (marks: readonly boolean[]) => marks.flatMap((is, i) => (is ? [i] : []))

describe('what is read', () => {
  test('lists, ranges, steps and words', () => {
    const cron = read('0,30-34/2,*/25 */8 1-3,31 JAN,mar-may sun,5-6')
    expect(cron.minutes).toEqual([0, 25, 30, 32, 34, 50])
    expect(cron.hours).toEqual([0, 8, 16])
    expect(marked(cron.daysOfMonth)).toEqual([1, 2, 3, 31])
    expect(marked(cron.months)).toEqual([1, 3, 4, 5])
    expect(marked(cron.daysOfWeek)).toEqual([0, 5, 6])
  })

  test('0 and 7 are Sunday', () => {
    for (const day of ['0', '7', 'sun', 'SUN', '7,7'])
      expect(marked(read(`0 0 * * ${day}`).daysOfWeek)).toEqual([0])
    expect(marked(read('0 0 * * 5-7').daysOfWeek)).toEqual([0, 5, 6])
  })

  test.each([
    ['@hourly', '0 * * * *'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@weekly', '0 0 * * 0'],
    ['@monthly', '0 0 1 * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    [' 5  4\t* * * ', '5 4 * * *'],
  ])('%p is %p', (short, long) => expect(read(short)).toEqual(read(long)))

  test('a day that begins with * restricts nothing', () => {
    expect(read('0 0 13 * 5').isEitherDay).toBe(true)
    for (const text of ['0 0 * * 5', '0 0 13 * *', '0 0 */2 * 5', '0 0 13 * */2'])
      expect(read(text).isEitherDay).toBe(false)
  })

  test('the hour decides whether real time is followed', () => {
    for (const hour of ['*', '*/3', '*,5']) expect(read(`0 ${hour} * * *`).followsRealTime).toBe(true)
    for (const hour of ['0-23', '5,*', '2']) expect(read(`0 ${hour} * * *`).followsRealTime).toBe(false)
  })

  test('what comes once in years', () => expect(parseCron('0 0 29 2 *').ok).toBe(true))
})
