import { expect, test } from 'bun:test'
import { until } from '../testing/until.ts'
import { linesOut, type Put } from './lines-out.ts'

const failure = (code: string) => Object.assign(new Error(code), { code })

/** An output that follows `answers`: the number of bytes to accept, or an error. At their end it accepts everything. */
function output(...answers: (number | string)[]) {
  let text = ''
  let calls = 0
  const put: Put = async (bytes) => {
    calls += 1
    const answer = answers.shift() ?? bytes.length
    if (typeof answer === 'string') throw failure(answer)
    const taken = bytes.subarray(0, answer)
    text += new TextDecoder().decode(taken)
    return taken.length
  }
  return { put, text: () => text, calls: () => calls }
}

test('lines of one moment go out together in order, however few bytes each write accepts', async () => {
  const out = output(3, 4)
  const lines = linesOut(out.put, () => {})
  lines.write('one\n')
  lines.write('two\n')
  expect(out.calls()).toBe(0)
  await lines.flush()
  expect(out.text()).toBe('one\ntwo\n')
  expect(out.calls()).toBe(3)
})

test('lines go out without a flush', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const lines = linesOut(
    async (bytes) => {
      resolve(new TextDecoder().decode(bytes))
      return bytes.length
    },
    () => {},
  )
  lines.write('one\n')
  expect(await promise).toBe('one\n')
})

test('an output that is temporarily full is retried', async () => {
  const out = output('EAGAIN', 'EAGAIN')
  const lines = linesOut(out.put, () => {})
  lines.write('one\n')
  // One flush only waits briefly, and a busy machine may use up that time.
  await until('the line', async () => {
    await lines.flush()
    return out.text() !== ''
  })
  expect(out.text()).toBe('one\n')
})

test('lines that a full disk rejects are dropped and counted, and no two lines merge', async () => {
  const out = output('ENOSPC', 2, 'ENOSPC')
  const told: number[] = []
  const lines = linesOut(out.put, (lost) => {
    told.push(lost)
    lines.write(`lost ${lost}\n`)
  })
  for (const text of ['one\n', 'two\n', 'three\n']) {
    lines.write(text)
    await lines.flush()
  }
  expect(out.text()).toBe('tw\nthree\nlost 2\n')
  expect(told).toEqual([2])
})

test('without a reader nothing blocks, and the buffer is bounded', async () => {
  let taken = ''
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  let lost = 0
  const lines = linesOut(
    async (bytes) => {
      await opened
      taken += new TextDecoder().decode(bytes)
      return bytes.length
    },
    (count) => {
      lost = count
    },
  )
  const line = `${'x'.repeat(1023)}\n`
  lines.write('first\n')
  await lines.flush()
  for (let i = 0; i < 5000; i++) lines.write(line)
  open()
  await lines.flush()
  expect(taken.length).toBe('first\n'.length + 4096 * line.length)
  lines.write('last\n')
  await lines.flush()
  expect(lost).toBe(5000 - 4096)
})
