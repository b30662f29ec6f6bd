import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hasTxt, txtRecords } from './txt-records.ts'

const NO_SUCH_NAME = 3
const SERVER_FAILED = 2

/** Answers by the first label of the name: texts of one TXT record each, or an error code. */
const ANSWERS: Readonly<Record<string, string[][] | number>> = {
  split: [['first half ', 'and second'], ['another']],
  none: NO_SUCH_NAME,
  failing: SERVER_FAILED,
}

const serveDns = () =>
  Bun.udpSocket({
    hostname: '127.0.0.1',
    socket: {
      data: (socket, query, port, address) => void socket.send(answerTo(Buffer.from(query)), port, address),
    },
  })

let dns: Awaited<ReturnType<typeof serveDns>>
beforeAll(async () => {
  dns = await serveDns()
})
afterAll(() => dns.close())

/** RFC 1035 §4. */
function answerTo(query: Buffer): Buffer {
  const label = query.subarray(13, 13 + query.readUInt8(12)).toString()
  const nameLength = query.indexOf(0, 12) + 1 - 12
  const question = query.subarray(12, 12 + nameLength + 4)
  const answer = ANSWERS[label] ?? NO_SUCH_NAME
  const records = typeof answer === 'number' ? [] : answer.map(txtRecord)
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | (typeof answer === 'number' ? answer : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, question, ...records])
}

function txtRecord(texts: string[]): Buffer {
  const data = Buffer.concat(texts.map((text) => Buffer.from([text.length, ...Buffer.from(text)])))
  const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 5, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

const look = (name: string) => txtRecords(name, [`127.0.0.1:${dns.port}`])

test('finds a value split into two texts, and one of two records', async () => {
  const texts = await look('split.example')
  expect(hasTxt(texts, 'first half and second')).toBe(true)
  expect(hasTxt(texts, 'another')).toBe(true)
  expect(hasTxt(texts, 'first')).toBe(false)
})

test('a missing name has no records; a failing server is an error', async () => {
  expect(await look('none.example')).toEqual([])
  await expect(look('failing.example')).rejects.toThrow('ESERVFAIL')
})

test.each<[texts: string[], isThere: boolean]>([
  [['value'], true],
  [[' value '], true],
  [['v=spf1 -all', 'va', 'lue'], true],
  [['value2'], false],
  [['x'.repeat(500), 'value'], true],
  [['va', 'x', 'lue'], false],
  [[], false],
])('%p holds the value: %p', (texts, isThere) => {
  expect(hasTxt(texts, 'value')).toBe(isThere)
})

test('tens of thousands of texts are all checked without blocking the server', () => {
  for (const text of ['', ' ', 'v', 'x']) {
    const many = Array<string>(60_000).fill(text)
    expect(hasTxt(many, 'value')).toBe(false)
    expect(hasTxt([...many, 'va', '', 'lue'], 'value')).toBe(true)
  }
})
