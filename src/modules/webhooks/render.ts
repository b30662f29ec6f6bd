import type { HeaderPair } from '../../domain/forward-headers.ts'
import type { EventBody } from './events.ts'
import type { Kind } from './model.ts'
import { type Sentence, sentenceOf } from './sentence.ts'

/** The body of a request, and the headers that go with its kind. */
export type Rendered = { body: string; contentType: string; headers: HeaderPair[] }

/** `stored` is the event as JSON; every try of a delivery sends the same bytes. */
export function render(kind: Kind, deliveryId: string, stored: string): Rendered {
  if (kind === 'json') return asJson(`{"id":${JSON.stringify(deliveryId)},${stored.slice(1)}`)
  const event = JSON.parse(stored) as EventBody
  const sentence = sentenceOf(event)
  return kind === 'ntfy' ? forNtfy(sentence, event) : asJson(JSON.stringify(CHATS[kind](sentence)))
}

const asJson = (body: string): Rendered => ({ body, contentType: 'application/json', headers: [] })

/** Nobody's commit message can call a channel. */
const CHATS: Record<'slack' | 'mattermost' | 'discord', (sentence: Sentence) => object> = {
  slack: ({ text, link }) => ({ text: `${asEntities(text)} <${link}>` }),
  mattermost: ({ text, link }) => ({ text: `${asEntities(text).replaceAll('@', '@\u200b')} <${link}>` }),
  discord: ({ text, link }) => ({
    content: `${cutUnits(text, MAX_DISCORD - link.length - 1)} ${link}`,
    allowed_mentions: { parse: [] },
  }),
}

const MAX_DISCORD = 2000

const asEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** At most that many UTF-16 units, and no half character. */
const cutUnits = (text: string, max: number): string =>
  text.length <= max
    ? text
    : text
        .slice(0, Math.max(0, max))
        .toWellFormed()
        .replace(/\ufffd$/, '')

const forNtfy = ({ title, text, link }: Sentence, { event, project }: EventBody): Rendered => ({
  body: `${text} ${link}`,
  contentType: 'text/plain; charset=utf-8',
  headers: [
    ['title', encodedWords(project === null ? title : `${title}: ${project.owner}/${project.name}`)],
    ['tags', event],
    ['click', encodedWords(link)],
  ],
})

/** Plain ASCII stays; anything else in words of at most 75 characters. RFC 2047 §2. */
export function encodedWords(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text
  const words: string[] = []
  let bytes: number[] = []
  for (const character of text) {
    const next = Buffer.from(character)
    if (bytes.length + next.length > MAX_WORD_BYTES) {
      words.push(word(bytes))
      bytes = []
    }
    bytes.push(...next)
  }
  return [...words, word(bytes)].join(' ')
}

/** 60 characters of base64, within `=?UTF-8?B?…?=`. */
const MAX_WORD_BYTES = 45
const word = (bytes: number[]): string => `=?UTF-8?B?${Buffer.from(bytes).toString('base64')}?=`
