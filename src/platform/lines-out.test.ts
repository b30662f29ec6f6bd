import { expect, test } from 'bun:test'
import { linesOut, type Put } from './lines-out.ts'

const failure = (code: string) => Object.assign(new Error(code), { code })

/** An output that takes what `answers` say: so many bytes, a failure, or (at the end of them) everything. */
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

test('lines of one moment go out together, in their order, however little is taken at once', async () => {
  const out = output(3, 4)
  const lines = linesOut(out.put, () => {})
  lines.write('one\n')
  lines.write('two\n')
  expect(out.calls()).toBe(0)
  await lines.flush()
  expect(out.text()).toBe('one\ntwo\n')
  expect(out.calls()).toBe(3)
})

test('they go out by themselves', async () => {
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

test('an output that is full for the moment is tried again', async () => {
  const out = output('EAGAIN', 'EAGAIN')
  const lines = linesOut(out.put, () => {})
  lines.write('one\n')
  // One flush waits for a moment only, which a busy machine may use up.
  while (out.text() === '') await lines.flush()
  expect(out.text()).toBe('one\n')
})

test('what a full disk does not take is dropped and told, and no line runs into another', async () => {
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

test('where nobody reads, nobody waits, and only so much is kept', async () => {
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
