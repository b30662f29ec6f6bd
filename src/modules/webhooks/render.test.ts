import { expect, test } from 'bun:test'
import { EVENTS, type EventBody } from './events.ts'
import { encodedWords, render } from './render.ts'

const HOSTILE = 'Fix @everyone @channel <!channel> <https://evil.example|click> & 😀\r\n::set-output\u202e'

const released = (description: string): EventBody => ({
  event: 'deployment.released',
  createdAt: '2026-11-20T12:00:00.000Z',
  workspace: { url: 'https://admin.example.com' },
  project: { id: 'p', owner: 'acme', name: 'docs' },
  actor: { kind: 'key', id: 'k', name: 'CI' },
  data: {
    alias: 'production',
    deployment: {
      commitSha: 'a'.repeat(40),
      branch: 'main',
      description,
      urls: { preview: 'https://p.example.com/', alias: 'https://production.example.com/' },
    },
    previous: null,
  },
})

const sent = (kind: Parameters<typeof render>[0], description = HOSTILE) =>
  render(kind, 'the-id', JSON.stringify(released(description)))

const LINK = '<https://production.example.com/>'
const TEXT =
  'acme/docs: CI released aaaaaaaaaaaa (main) “Fix @everyone @channel &lt;!channel&gt; &lt;https://evil.example|click&gt; &amp; 😀 ” to production'

test('json is the event with the id of its delivery first', () => {
  const { body, contentType } = sent('json')
  expect([contentType, JSON.parse(body)]).toEqual([
    'application/json',
    { id: 'the-id', ...released(HOSTILE) },
  ])
  expect(body.startsWith('{"id":"the-id","event":"deployment.released",')).toBe(true)
})

test('nobody calls a channel of Slack', () => {
  expect(JSON.parse(sent('slack').body)).toEqual({ text: `${TEXT} ${LINK}` })
})

test('nor one of Mattermost', () => {
  expect(JSON.parse(sent('mattermost').body)).toEqual({ text: `${TEXT.replaceAll('@', '@\u200b')} ${LINK}` })
})

test('nor one of Discord, whose messages have at most 2000 characters', () => {
  expect(JSON.parse(sent('discord').body)).toEqual({
    content: `${TEXT.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')} https://production.example.com/`,
    allowed_mentions: { parse: [] },
  })
  const { content } = JSON.parse(sent('discord', '😀'.repeat(500_000)).body)
  expect([content.length <= 2000, content.isWellFormed(), content.endsWith('example.com/')]).toEqual([
    true,
    true,
    true,
  ])
})

test('ntfy gets text, and its headers in ASCII', () => {
  const { body, contentType, headers } = sent('ntfy')
  expect(contentType).toBe('text/plain; charset=utf-8')
  expect(body).toContain('acme/docs: CI released')
  expect(body).not.toContain('\n')
  expect(headers).toEqual([
    ['title', 'Released: acme/docs'],
    ['tags', 'deployment.released'],
    ['click', 'https://production.example.com/'],
  ])
})

const words: [text: string, header: string][] = [
  ['plain text', 'plain text'],
  ['Grüße', '=?UTF-8?B?R3LDvMOfZQ==?='],
  ['line\nbreak', '=?UTF-8?B?bGluZQpicmVhaw==?='],
]
test.each(words)('%p is %s in a header', (text, header) => expect(encodedWords(text)).toBe(header))

test('a long text becomes words of at most 75 characters that are whole characters each', () => {
  const text = '😀é'.repeat(100)
  const parts = encodedWords(text).split(' ')
  expect(parts.every((part) => part.length <= 75 && part.startsWith('=?UTF-8?B?'))).toBe(true)
  const decoded = parts.map((part) => Buffer.from(part.slice(10, -2), 'base64').toString())
  expect(decoded.every((part) => !part.includes('\ufffd'))).toBe(true)
  expect(decoded.join('')).toBe(text)
})

test.each([...EVENTS])('%s has a line for every kind of receiver, even with nothing known of it', (event) => {
  const body: EventBody = { ...released('x'), event, project: null, data: {} }
  for (const kind of ['slack', 'mattermost', 'discord', 'ntfy'] as const)
    expect(render(kind, 'x', JSON.stringify(body)).body).toContain('https://')
})
